import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream, type Stream } from '../open-stream.ts';
import { readEvents, type StoredRequest } from './read-events.ts';
import { until } from '../../../testing/until.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
/** Well below the four seconds after which an append gives up, well above what a busy machine takes to answer. */
const NO_DEADLINE_MS = 2_500;
const SETTINGS = { ...STREAM_SETTINGS, eventStreams: 2 };

suite('appending a request', () => {
  test('stores the bytes of the client and gives back its events', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    const appended = await append(stream, { id: 'a1', home: 1, userId: 'u1' });
    assert.deepEqual(appended, { ok: true, stream: 'EVENTS-1', sequence: 1, duplicate: false });
    const [stored] = await readAll(cluster.url);
    assert.equal(stored?.sourceId, 'src_1');
    assert.equal(stored?.events[0]?.userId, 'u1');
    assert.equal(stored?.events[0]?.messageId, 'm-a1');
  });

  test('stores a request once, however often it is sent again', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    const all = await Promise.all(
      Array.from({ length: 20 }, () => append(stream, { id: 'same', home: 0, userId: 'u1' })),
    );
    assert.ok(all.every((appended) => appended.ok));
    assert.equal(all.filter((appended) => appended.ok && !appended.duplicate).length, 1);
    assert.equal((await readAll(cluster.url)).length, 1);
  });

  test('goes to the other stream while one is full, and says so when both are', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    await limitStreams(cluster.url, ['EVENTS-0']);
    const moved = await append(stream, { id: 'b1', home: 0, userId: 'u1' });
    assert.equal(moved.ok && moved.stream, 'EVENTS-1');
    await limitStreams(cluster.url, ['EVENTS-1']);
    const startedAt = performance.now();
    const refused = await append(stream, { id: 'b2', home: 0, userId: 'u1' });
    assert.equal(refused.ok, false);
    assert.ok(performance.now() - startedAt < NO_DEADLINE_MS, 'a full store is an answer, not a timeout');
    assert.equal(stream.isAvailable(), false);
  });

  test('takes events again when a full stream has room', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, eventStreams: 1 }, log });
    await limitStreams(cluster.url, ['EVENTS-0']);
    assert.equal((await append(stream, { id: 'c1', home: 0, userId: 'u1' })).ok, false);
    await limitStreams(cluster.url, ['EVENTS-0'], 10_000_000);
    await until(() => stream.isAvailable());
    assert.equal((await append(stream, { id: 'c1', home: 0, userId: 'u1' })).ok, true);
  });

  test('fails soon when the server is gone, not only at the deadline, and works again when it is back', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    const [node] = cluster.nodes;
    await node?.kill('SIGKILL');
    const startedAt = performance.now();
    assert.equal((await append(stream, { id: 'd1', home: 0, userId: 'u1' })).ok, false);
    assert.ok(performance.now() - startedAt < NO_DEADLINE_MS);
    await node?.start();
    await until(() => stream.isAvailable());
    assert.equal((await append(stream, { id: 'd1', home: 0, userId: 'u1' })).ok, true);
    assert.equal((await readAll(cluster.url)).length, 1);
  });
});

type Call = { id: string; home: number; userId: string };

function append(stream: Stream, { id, home, userId }: Call) {
  const envelope = JSON.stringify({ shape: 'track', receivedAt: '2026-11-15T00:00:00.000Z', requestId: id });
  const body = Buffer.from(JSON.stringify({ userId, event: 'E', messageId: `m-${id}` }));
  return stream.append({ sourceId: 'src_1', id, home, envelope, body });
}

async function readAll(url: string): Promise<StoredRequest[]> {
  await using connection = await connectNats({ url, name: 'test', log });
  return await Array.fromAsync(readEvents(connection, SETTINGS.eventStreams));
}

/** One byte more than it holds is one too many for any message. */
async function limitStreams(url: string, names: string[], bytes = 1): Promise<void> {
  await using connection = await connectNats({ url, name: 'test', log });
  const manager = await jetstreamManager(connection.nc);
  for (const name of names) await manager.streams.update(name, { max_bytes: bytes });
}
