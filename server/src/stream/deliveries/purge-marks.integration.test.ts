import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream } from '../open-stream.ts';
import { purgeOldMarks } from './purge-marks.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const MONTH_MS = 30 * 86_400_000;

suite('the marks of deleted keys', () => {
  test('are purged when they are old, and nothing else is', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    await using connection = await connectNats({ url: cluster.url, name: 'marks', log });
    const manager = await jetstreamManager(connection.nc);
    await using side = await stream.deliverySide();
    const laneHealth = (destinationId: string) => {
      const at = new Date().toISOString();
      const lane = { destinationId, workspaceId: 'ws_1', depth: 1, bytes: 1 };
      return side.health.put({ ...lane, state: 'waiting', since: at, updatedAt: at });
    };
    for (const id of ['dst_gone', 'dst_back', 'dst_here']) await laneHealth(id);
    for (const id of ['dst_gone', 'dst_back']) await side.health.remove(id);
    await laneHealth('dst_back');
    await side.health.remove('dst_never');
    const keys = async () => {
      const { state } = await manager.streams.info('KV_health', { subjects_filter: '>' });
      return Object.keys(state.subjects ?? {})
        .map((subject) => subject.split('.').at(-1))
        .toSorted((one, other) => String(one).localeCompare(String(other)));
    };
    const needs = { connection, manager, log };
    assert.equal(await purgeOldMarks('health', { ...needs, now: Date.now }), 0, 'young marks stay');
    assert.equal(await purgeOldMarks('health', { ...needs, now: () => Date.now() + MONTH_MS }), 1);
    assert.deepEqual(await keys(), ['dst_back', 'dst_here', 'dst_never'], 'the last message of the bucket stays');
    await laneHealth('dst_here');
    assert.equal(await purgeOldMarks('health', { ...needs, now: () => Date.now() + MONTH_MS }), 1);
    assert.deepEqual(await keys(), ['dst_back', 'dst_here']);
  });
});
