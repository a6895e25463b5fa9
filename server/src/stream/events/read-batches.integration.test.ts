import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { FORMATS } from '../../domain/format.ts';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { findPlace } from '../nats/stream-place.ts';
import { eventStreamName, eventSubject, layout } from '../layout/layout.ts';
import { openStream } from '../open-stream.ts';
import { type BatchReader, openBatches, type ReadBatch, type ReadPosition } from './read-batches.ts';
import { ENVELOPE_HEADER } from './request-message.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAM = eventStreamName(0);
const AT = new Date().toISOString();

async function openBed(nodes: 1 | 3 = 1) {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ nodes }));
  const settings = { ...STREAM_SETTINGS, replicas: nodes };
  opening.use(await openStream({ natsUrl: cluster.url, settings, log }));
  const writing = opening.use(await connectNats({ url: cluster.adminUrl, name: 'writer', log }));
  const reading = opening.use(await connectNats({ url: cluster.adminUrl, name: 'reader', log }));
  const manager = await jetstreamManager(writing.nc);
  const js = jetstream(writing.nc);
  let count = 0;
  /** Resolves with the sequence; tries again until a leader has answered. */
  const publish = async (sourceId: string, envelope: string, body: string): Promise<number> => {
    const head = headers();
    head.append(ENVELOPE_HEADER, envelope);
    count += 1;
    const msgID = `r${count}`;
    for (;;) {
      try {
        return (await js.publish(eventSubject(0, sourceId), body, { headers: head, msgID, timeout: 2_000 })).seq;
      } catch {
        await until(() => writing.isConnected());
      }
    }
  };
  const envelopeOf = (change: object = {}) =>
    JSON.stringify({ shape: 'batch', receivedAt: AT, requestId: `r${count}`, v: 1, ...change });
  const open = opening.move();
  return {
    cluster,
    manager,
    reading,
    publish,
    envelopeOf,
    /** One request with a track call for each name. */
    send: (...names: string[]) => publish('src_1', envelopeOf(), bodyOf(names)),
    async end(): Promise<ReadPosition> {
      const found = await findPlace(manager, STREAM, undefined);
      assert.ok(found !== undefined);
      return { ...found.place, left: [] };
    },
    read: (position: ReadPosition, isWanted = (sourceId: string) => sourceId !== 'src_other') =>
      openBatches({ connection: reading, manager, stream: STREAM, position, isWanted, log }),
    makeAnew: async () => {
      await manager.streams.delete(STREAM);
      const [plan] = layout(settings, () => 1_000_000).streams;
      await manager.streams.add({ ...plan, name: STREAM });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const bodyOf = (names: string[]) =>
  JSON.stringify({ batch: names.map((event) => ({ type: 'track', event, userId: 'u', messageId: `m-${event}` })) });

const namesIn = ({ requests }: ReadBatch) =>
  requests.flatMap(({ events }) => events.map((event) => (event as { event: string }).event));

/** Reads until so many events have come; all that was told on the way. */
async function readSome(reader: BatchReader, most: number) {
  const all: { names: string[]; batches: ReadBatch[] } = { names: [], batches: [] };
  await until(async () => {
    const batch = await reader.next(100);
    assert.ok(batch !== undefined, 'the stream is the same');
    all.batches.push(batch);
    all.names.push(...namesIn(batch));
    return all.names.length >= most;
  });
  return { ...all, position: all.batches.at(-1)?.position ?? assert.fail('no batch') };
}

suite('batches of an event stream', () => {
  test('begin at the end, hold each request once and in order, and go on from their position', async () => {
    await using bed = await openBed();
    await bed.send('before');
    const start = await bed.end();
    await bed.send('a', 'b');
    await bed.send('c');
    await using first = bed.read(start);
    const read = await readSome(first, 3);
    assert.deepEqual(read.names, ['a', 'b', 'c']);
    assert.equal(read.position.sequence, 3);
    await bed.send('d');
    assert.deepEqual((await readSome(first, 1)).names, ['d']);
    await until(async () => (await first.next(100))?.endSeenMs !== undefined);
    await using second = bed.read(read.position);
    assert.deepEqual((await readSome(second, 1)).names, ['d'], 'a process that did not commit reads it again');
  });

  test('hold a thousand events at most, or what comes within 50 ms, and come empty when nothing does', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    const names = Array.from({ length: 400 }, (_, nth) => `e${nth}`);
    for (let nth = 0; nth < 6; nth += 1) await bed.send(...names.map((name) => `${nth}${name}`));
    await using reader = bed.read(start);
    const { batches } = await readSome(reader, 2_400);
    const sizes = batches.map((batch) => namesIn(batch).length).filter((size) => size > 0);
    assert.ok(sizes.every((size) => size < 1_400), sizes.join()); // biome-ignore format: short
    assert.deepEqual((await reader.next(10))?.requests, []);
  });

  test('pass over sources that are not wanted, computed requests and unreadable ones, and leave newer ones', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    await bed.publish('src_other', bed.envelopeOf(), bodyOf(['other']));
    const computed = { workspaceId: 'ws_1', destinations: ['dst_1'] };
    await bed.publish('src_1', bed.envelopeOf({ computed, v: 2 }), bodyOf(['computed']));
    await bed.publish('src_1', 'no envelope', bodyOf(['odd']));
    await bed.publish('src_1', bed.envelopeOf(), 'no body');
    await bed.publish('src_1', bed.envelopeOf(), JSON.stringify({ batch: [{ type: 'purchase' }, 7] }));
    const newer = await bed.publish('src_1', bed.envelopeOf({ v: FORMATS.request + 1 }), bodyOf(['newer']));
    await bed.send('last');
    await using reader = bed.read(start);
    const { names, batches, position } = await readSome(reader, 1);
    assert.deepEqual(names, ['last']);
    assert.deepEqual(position.left, [newer]);
    const sum = (what: 'unreadable' | 'newer') => batches.reduce((all, { skipped }) => all + skipped[what], 0);
    assert.deepEqual([sum('unreadable'), sum('newer')], [4, 1]);
    assert.deepEqual(batches.flatMap(({ gaps }) => gaps), []); // biome-ignore format: short
  });

  test('bring what was left once a process knows its format, and a gap if it is gone', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    const left = [await bed.send('then newer'), await bed.send('then newer too')];
    await bed.manager.streams.deleteMessage(STREAM, left[1] ?? 0);
    const position = { ...start, ...(await bed.end()), left: [...left] };
    await bed.send('next');
    await using reader = bed.read(position);
    const read = await readSome(reader, 2);
    assert.deepEqual(read.names, ['then newer', 'next']);
    assert.deepEqual(read.position.left, []);
    assert.deepEqual(read.batches.flatMap(({ gaps }) => gaps), [{ from: left[1], through: left[1] }]); // biome-ignore format: short
  });

  test('stand still at the thousandth request of a newer format, and pass over no other', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    const newer = await bed.publish('src_1', bed.envelopeOf({ v: FORMATS.request + 1 }), bodyOf(['newer']));
    await bed.send('behind');
    await using reader = bed.read({ ...start, left: Array.from({ length: 1_000 }, () => newer) });
    for (let nth = 0; nth < 3; nth += 1) assert.equal((await reader.next(50))?.position.sequence, start.sequence);
    await using fewer = bed.read({ ...start, left: Array.from({ length: 999 }, () => newer) });
    assert.deepEqual((await readSome(fewer, 1)).names, ['behind']);
  });

  test('tell which requests were trimmed before they were read, at the beginning and in between', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    for (const name of ['a', 'b', 'c']) await bed.send(name);
    await bed.manager.streams.purge(STREAM, { seq: 3 });
    await using reader = bed.read(start);
    const read = await readSome(reader, 1);
    assert.deepEqual(read.batches.flatMap(({ gaps }) => gaps), [{ from: 1, through: 2 }]); // biome-ignore format: short
    assert.deepEqual(read.names, ['c']);
  });
});

suite('a reader of batches', () => {
  test('sees that its stream was made anew, and where to go on', async () => {
    await using bed = await openBed();
    const start = await bed.end();
    await bed.send('old');
    await using reader = bed.read(start);
    const { position } = await readSome(reader, 1);
    await bed.makeAnew();
    await bed.send('new');
    await until(async () => (await reader.next(100)) === undefined);
    const found = await findPlace(bed.manager, STREAM, position);
    assert.deepEqual([found?.isAnew, found?.place.sequence], [true, 0]);
    await using again = bed.read({ ...(found?.place ?? start), left: [] });
    assert.deepEqual((await readSome(again, 1)).names, ['new']);
  });

  test('finds its place by time in a stream that was restored under its old creation time', async () => {
    await using bed = await openBed();
    const { createdAt } = await bed.end();
    for (const name of ['a', 'b']) await bed.send(name);
    const now = Date.now();
    const beyond = await findPlace(bed.manager, STREAM, { createdAt, sequence: 7, storedAt: now - 120_000 });
    assert.deepEqual([beyond?.isAnew, beyond?.place.sequence], [true, 0], 'both came after the last one that was read');
    const reused = await findPlace(bed.manager, STREAM, { createdAt, sequence: 2, storedAt: now + 600_000 });
    assert.deepEqual([reused?.isAnew, reused?.place.sequence], [true, 2], 'both were read before, as others');
    const same = await bed.end();
    assert.deepEqual(await findPlace(bed.manager, STREAM, same).then((found) => found?.isAnew), false);
  });

  test('misses and repeats nothing while servers of the cluster are killed and come back', async () => {
    await using bed = await openBed(3);
    const start = await bed.end();
    await using reader = bed.read(start);
    const sent: string[] = [];
    const read: string[] = [];
    const isDone = new AbortController();
    const reads = (async () => {
      while (!isDone.signal.aborted) read.push(...namesIn((await reader.next(100)) ?? assert.fail('made anew')));
    })();
    const send = async (count: number) => {
      for (let nth = 0; nth < count; nth += 1) {
        const name = `e${sent.length}`;
        sent.push(name);
        await bed.send(name);
      }
    };
    await send(200);
    for (const node of bed.cluster.nodes) {
      await node.kill('SIGKILL');
      await send(100);
      await node.start();
      await send(100);
    }
    await until(
      () => read.length >= sent.length,
      60_000,
      () => `${read.length} of ${sent.length}`,
    );
    isDone.abort();
    await reads;
    assert.deepEqual(read, sent);
  });
});
