/** Usage is read once from a stream that is deleted, made again or restored: with a real NATS server. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { openLog } from '../../log.ts';
import { connectNats, type Connection } from '../nats/connect-nats.ts';
import { readUsage, type CountedPlace, type UsageReader } from './read-usage.ts';
import { ENVELOPE_HEADER } from './request-message.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAM = 'EVENTS-0';
const NOTHING: CountedPlace = { sequence: 0 };
const stack = new AsyncDisposableStack();
let connection: Connection;
let manager: JetStreamManager;
let usage: UsageReader;

before(async () => {
  const nats = stack.use(await startNatsCluster());
  connection = stack.use(await connectNats({ url: nats.url, name: 'usage', log }));
  manager = await jetstreamManager(connection.nc);
  usage = readUsage(connection, STREAM);
});
after(() => stack.disposeAsync());
beforeEach(() => remake());

async function remake(): Promise<void> {
  await manager.streams.delete(STREAM).catch(() => undefined);
  await manager.streams.add({ name: STREAM, subjects: ['events.0.*'] });
}

/** Requests with as many calls as given. */
async function store(...calls: number[]): Promise<void> {
  for (const count of calls) {
    const header = headers();
    const envelope = { shape: 'batch', receivedAt: new Date().toISOString(), requestId: 'r', calls: count };
    header.set(ENVELOPE_HEADER, JSON.stringify(envelope));
    await connection.nc.request('events.0.src_1', '{}', { headers: header, timeout: 5_000 });
  }
}

/** The calls of each request, and where they end. */
async function read(counted: CountedPlace): Promise<{ calls: number[]; through: CountedPlace }> {
  const { requests, through } = await usage.readAfter(counted);
  return { calls: requests.map(({ calls }) => calls), through };
}

suite('usage of a stream', () => {
  test('is read on from the last counted request, and nothing twice', async () => {
    await store(1, 2, 3);
    const { calls, through } = await read(NOTHING);
    assert.deepEqual([calls, through.sequence], [[1, 2, 3], 3]);
    assert.deepEqual((await read(through)).calls, []);
    await store(4);
    assert.deepEqual((await read(through)).calls, [4]);
  });

  test('that was made again is read whole, also when it has as many or more requests by then', async () => {
    await store(1, 2);
    const { through } = await read(NOTHING);
    for (const calls of [[5], [5, 6], [5, 6, 7]]) {
      await remake();
      await store(...calls);
      assert.deepEqual((await read(through)).calls, calls);
    }
  });

  test('that was made again and is empty is read from its beginning later', async () => {
    await store(1, 2);
    const { through } = await read(NOTHING);
    await remake();
    const empty = await read(through);
    assert.deepEqual([empty.calls, empty.through.sequence], [[], 0]);
    await store(3, 4);
    assert.deepEqual((await read(empty.through)).calls, [3, 4]);
  });

  test('that was restored, with an earlier end than was counted, goes on with what was stored since', async () => {
    await store(1, 2, 3);
    const { through } = await read(NOTHING);
    const further = { ...through, sequence: 9 };
    const restored = await read(further);
    assert.deepEqual([restored.calls, restored.through.sequence], [[], 3]);
    await store(4, 5);
    assert.deepEqual((await read(further)).calls, [4, 5]);
    assert.deepEqual((await read(restored.through)).calls, [4, 5]);
  });

  test('goes on after a request that is removed since', async () => {
    await store(1, 2, 3);
    const { through } = await read({ sequence: 1 });
    await manager.streams.purge(STREAM);
    await store(4);
    assert.deepEqual((await read(through)).calls, [4]);
  });

  test('goes on from a sequence that an earlier version noted', async () => {
    await store(1, 2, 3);
    assert.deepEqual((await read({ sequence: 2 })).calls, [3]);
    assert.deepEqual((await read({ sequence: 7 })).calls, [1, 2, 3]);
    const { through } = await read({ sequence: 3 });
    assert.ok(through.times !== undefined && through.times.storedAt > 0);
  });
});
