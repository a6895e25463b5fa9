import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { layout, TICKETS_STREAM } from '@millrace/server/layout';
import { openStreamCopies, type StreamCopies } from '@millrace/server/stream-copies';
import { openInspector } from '../../../../server/testing/inspector.ts';
import { openLog } from '../../../../server/src/log.ts';
import { until } from '../../../../server/testing/until.ts';
import { assertReplicated, restoreOne } from './restore-backup.ts';
import { takeBackup } from './take-backup.ts';

const SILENT = openLog({ level: 'silent', pretty: false });
const QUIET = { step: () => undefined, update: () => undefined, end: () => undefined };
const PLAN = layout(
  { replicas: 3, eventStreams: 1, laneStreams: 1, outcomeStreams: 1, retentionMs: 3_600_000, dedupWindowMs: 120_000 },
  () => 1_000_000_000,
);

suite('a restore into three servers', () => {
  let cluster: NatsCluster;
  let copies: StreamCopies;
  const dir = mkdtempSync(join(tmpdir(), 'millrace-restore-'));

  before(async () => {
    cluster = await startNatsCluster({ nodes: 3, sync: 'default' });
    copies = await openStreamCopies({ natsUrl: cluster.adminUrl });
  });
  after(async () => {
    await copies[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  test('tickets that come due meanwhile fire, also when NATS did not take the stream at first', async () => {
    await using inspector = await openInspector(cluster.adminUrl, SILENT);
    const { manager } = inspector;
    const tickets = PLAN.streams.find(({ name }) => name === TICKETS_STREAM) ?? assert.fail();
    await manager.streams.add(tickets);
    for (const { stream, config } of PLAN.consumers)
      if (stream === TICKETS_STREAM) await manager.consumers.add(stream, config);
    await copies.whenReplicated([{ name: TICKETS_STREAM, replicas: 3 }]);
    const dueAt = new Date(Date.now() + 5_000).toISOString();
    const schedule = { 'Nats-Schedule': `@at ${dueAt}`, 'Nats-Schedule-Target': 'tickets.due.one' };
    await inspector.publish('tickets.at.one', '{}', schedule);
    const from = { natsUrl: cluster.adminUrl, natsFiles: {}, databaseUrl: undefined };
    const { streams } = await takeBackup({ dir, ...from, progress: QUIET });
    const copy = streams.find(({ stream }) => stream.name === TICKETS_STREAM) ?? assert.fail();
    await copies.remove(TICKETS_STREAM);

    let isFirst = true;
    const failingFirst: StreamCopies = {
      ...copies,
      async restore(needs) {
        if (!isFirst) return copies.restore(needs);
        isFirst = false;
        // NATS gets nothing of what it asks for.
        return copies.restore({ ...needs, chunks: broken() });
      },
    };
    await restoreOne(failingFirst, { dir, copy, replicas: 3, progress: QUIET });
    await copies.whenReplicated([{ name: TICKETS_STREAM, replicas: 3 }]);
    await until(async () => (await inspector.tickets()).includes('tickets.due.one'), 30_000);
    // A list right after a restore may lack a consumer whose server did not answer in time.
    await until(async () => (await copies.consumers(TICKETS_STREAM)).length === 2);
  });

  test('is not done while a stream or a consumer misses replicas, and says which', async () => {
    await using inspector = await openInspector(cluster.adminUrl, SILENT);
    const { manager } = inspector;
    const atOnce = {
      whenReplicated: (streams: Parameters<StreamCopies['whenReplicated']>[0]) => copies.whenReplicated(streams, 0),
    };
    const fails = async (name: string, why: RegExp) => {
      await until(async () => (await copies.find(name)) !== undefined);
      const stream = (await copies.find(name)) ?? assert.fail();
      const wanted = { stream: { ...stream, config: { ...stream.config, num_replicas: 3 } } };
      await assert.rejects(assertReplicated(atOnce, [wanted], 3), why);
    };
    await manager.streams.add({ name: 'ALONE', subjects: ['alone'], num_replicas: 1 });
    await fails('ALONE', /does not keep it as it should: not all replicas of the stream ALONE are there/);
    await manager.streams.add({ name: 'READ', subjects: ['read'], num_replicas: 3 });
    await copies.whenReplicated([{ name: 'READ', replicas: 3 }]);
    await manager.consumers.add('READ', { durable_name: 'reader', ack_policy: 'explicit', num_replicas: 1 });
    await fails('READ', /not all replicas of the consumer reader of READ are there/);
    await assert.rejects(
      copies.whenReplicated([{ name: 'GONE', replicas: 3 }], 0),
      /not all replicas of GONE \(.*not found/,
    );
  });
});

// oxlint-disable-next-line require-yield -- it breaks before
async function* broken(): AsyncGenerator<Uint8Array> {
  throw new Error('the file cannot be read');
}
