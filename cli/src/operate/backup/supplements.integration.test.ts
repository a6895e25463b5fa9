import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { layout } from '@millrace/server/layout';
import { openInspector } from '../../../../server/testing/inspector.ts';
import { openLog } from '../../../../server/src/log.ts';
import { restoreBackup } from './restore-backup.ts';
import { takeBackup } from './take-backup.ts';

const SILENT = openLog({ level: 'silent', pretty: false });
const QUIET = { step: () => undefined, update: () => undefined, end: () => undefined };
const PLAN = layout(
  { replicas: 1, eventStreams: 1, laneStreams: 1, outcomeStreams: 1, retentionMs: 3_600_000, dedupWindowMs: 120_000 },
  () => 100_000_000,
);
const TEXTS = Array.from({ length: 20 }, (_, i) => `delivery ${i}`);

test('deliveries that move while the streams are copied are in the restored streams', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-moves-'));
  try {
    await using before = await startNatsCluster({ nodes: 1, sync: 'default' });
    await using inspector = await openInspector(before.adminUrl, SILENT);
    const { manager, publish } = inspector;
    for (const { name, ...plan } of PLAN.streams) await manager.streams.add({ name, ...plan });
    // Other lanes, large enough that the snapshot is under way for a while.
    for (let i = 0; i < 2_500; i += 1) await publish('lanes.0.other.0', randomBytes(5_000).toString('hex'));
    for (const text of TEXTS) await publish('lanes.0.failing.0', text, { 'Millrace-Format': '1' });
    await publish('dead.retried', 'letter');
    /** A failed retry, and a dead letter that a person sends again: stored at the new place, then removed from the old one. */
    const move = async () => {
      for (const text of TEXTS) await publish('lanes.0.failing.1', text, { 'Millrace-Format': '1' });
      await manager.streams.purge('LANES-0', { filter: 'lanes.0.failing.0' });
      await publish('lanes.0.retried.0', 'letter');
      await manager.streams.purge('DEAD', { filter: 'dead.retried' });
    };
    let moving: Promise<void> | undefined;
    let step = '';
    const progress = {
      ...QUIET,
      step: (text: string) => void (step = text),
      update: () => {
        if (step.startsWith('stream LANES-0')) moving ??= move();
      },
    };
    const natsFiles = {};
    const manifest = await takeBackup({ dir, natsUrl: before.adminUrl, natsFiles, databaseUrl: undefined, progress });
    assert.ok(moving !== undefined);
    await moving;
    const lanes = manifest.streams.find(({ stream }) => stream.name === 'LANES-0');
    assert.equal(lanes?.supplement?.messages, 21);
    assert.equal(manifest.streams.find(({ stream }) => stream.name === 'DEAD')?.supplement, undefined);

    await using after = await startNatsCluster({ nodes: 1, sync: 'default' });
    const to = { databaseUrl: undefined, serviceUrl: undefined, isForced: false, progress: QUIET };
    await restoreBackup({ dir, natsUrl: after.adminUrl, natsFiles, ...to });
    await using restored = await openInspector(after.adminUrl, SILENT);
    const groups = await restored.laneGroups();
    assert.deepEqual([groups['lanes.0.failing.1'], groups['lanes.0.retried.0']], [20, 1]);
    const { state } = await restored.manager.streams.info('LANES-0');
    assert.equal(state.last_seq, 2_520 + 21);
    const first = await restored.manager.streams.getMessage('LANES-0', { seq: 2_521 });
    assert.deepEqual([first?.string(), first?.header.get('Millrace-Format')], ['delivery 0', '1']);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
