import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager, PersistMode, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openLog } from '../log.ts';
import type { StreamSettings } from './layout.ts';
import { openStream } from './open-stream.ts';

const log = openLog({ level: 'silent', pretty: false });
const SETTINGS: StreamSettings = {
  replicas: 1,
  eventStreams: 2,
  laneStreams: 2,
  retentionMs: 3_600_000,
  dedupWindowMs: 60_000,
};

suite('opening the stream', () => {
  test('makes everything in the layout, and opening again changes nothing', async () => {
    await using cluster = await startNatsCluster();
    for (let round = 0; round < 2; round += 1) {
      await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
      assert.equal(stream.isAvailable(), true);
    }
    const names = (await streamsOf(cluster.url)).map((config) => config.name).sort();
    assert.deepEqual(names, [
      'AUDIT',
      'DEAD',
      'EVENTS-0',
      'EVENTS-1',
      'KV_config',
      'KV_health',
      'KV_worked',
      'LANES-0',
      'LANES-1',
      'OUTCOMES',
      'QUARANTINE',
      'TICKETS',
    ]);
  });

  test('brings an existing stream to new settings', async () => {
    await using cluster = await startNatsCluster();
    await using before = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    assert.ok(before);
    const settings = { ...SETTINGS, retentionMs: 7_200_000, dedupWindowMs: 120_000 };
    await using after = await openStream({ natsUrl: cluster.url, settings, log });
    assert.ok(after);
    const events = (await streamsOf(cluster.url)).find((config) => config.name === 'EVENTS-0');
    assert.equal(events?.max_age, 7_200_000 * 1_000_000);
    assert.equal(events?.duplicate_window, 120_000 * 1_000_000);
  });

  test('refuses a server that does not sync every write', async () => {
    await using cluster = await startNatsCluster({ sync: 'default' });
    await assert.rejects(openStream({ natsUrl: cluster.url, settings: SETTINGS, log }), /sync_interval: always/);
  });

  test('refuses more replicas than there are servers', async () => {
    await using cluster = await startNatsCluster();
    const settings = { ...SETTINGS, replicas: 3 as const };
    await assert.rejects(openStream({ natsUrl: cluster.url, settings, log }), /only 1 NATS servers/);
  });

  test('refuses a stream that keeps its messages in memory', async () => {
    await using cluster = await startNatsCluster();
    await addStream(cluster.url, { storage: StorageType.Memory });
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /EVENTS-0 keeps its messages in memory/,
    );
  });

  test('refuses a stream that acknowledges before it writes', async () => {
    await using cluster = await startNatsCluster();
    await addStream(cluster.url, { persist_mode: PersistMode.Async });
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /acknowledges before it writes/,
    );
  });

  test('starts while one of three servers is down, and changes nothing then', async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    const settings = { ...SETTINGS, replicas: 3 as const };
    {
      await using stream = await openStream({ natsUrl: cluster.url, settings, log });
      assert.ok(stream.isAvailable());
    }
    await cluster.nodes[2]?.kill('SIGKILL');
    await using stream = await openStream({
      natsUrl: cluster.url,
      settings: { ...settings, retentionMs: 60_000_000 },
      log,
    });
    assert.ok(stream.isAvailable());
    const events = (await streamsOf(cluster.url)).find((config) => config.name === 'EVENTS-0');
    assert.equal(events?.max_age, SETTINGS.retentionMs * 1_000_000);
  });

  test('refuses to take replicas away because a setting was forgotten', async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, replicas: 3 }, log });
    assert.ok(stream.isAvailable());
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /has 3 replicas: set MILLRACE_REPLICAS/,
    );
    assert.ok((await streamsOf(cluster.url)).every((config) => config.num_replicas === 3));
  });

  test('gives up event streams that are empty, and refuses to forget one that is not', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, eventStreams: 4 }, log });
    const envelope = '{"shape":"track","receivedAt":"2026-11-15T00:00:00.000Z","requestId":"r"}';
    await stream.append({
      sourceId: 'src_1',
      id: 'r',
      home: 2,
      envelope,
      body: Buffer.from('{"userId":"u","event":"E"}'),
    });
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /EVENTS-2 still holds 1 requests/,
    );
    await using fewer = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, eventStreams: 3 }, log });
    assert.ok(fewer.isAvailable());
    assert.ok(!(await streamsOf(cluster.url)).some((config) => config.name === 'EVENTS-3'));
  });

  test('says that no server can be reached', async () => {
    await assert.rejects(openStream({ natsUrl: 'nats://127.0.0.1:1', settings: SETTINGS, log }), /refused/i);
  });
});

async function streamsOf(url: string) {
  const nc = await connect({ servers: url.split(',') });
  const manager = await jetstreamManager(nc);
  const configs = [];
  for await (const info of manager.streams.list()) configs.push(info.config);
  await nc.close();
  return configs;
}

async function addStream(url: string, config: { storage?: StorageType; persist_mode?: PersistMode }): Promise<void> {
  const nc = await connect({ servers: url.split(',') });
  const manager = await jetstreamManager(nc);
  await manager.streams.add({ name: 'EVENTS-0', subjects: ['events.0.*'], ...config });
  await nc.close();
}
