import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { bucketSubject, DELIVER_CONSUMER, eventSubject, FLOORS_BUCKET, type StreamSettings } from '../layout/layout.ts';
import { openPublisher } from '../nats/publish.ts';
import { AT_ONCE } from '../nats/publish-durably.ts';
import { openWaitingLine } from '../nats/waiting-line.ts';
import { openStream } from '../open-stream.ts';
import { openFloors } from './floors.ts';
import { firstToKeep, firstToKeepByAge, lookAgainMs, trimAll } from './trim-events.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAM = 'EVENTS-0';
const REQUEST = Buffer.alloc(200_000, 'x');

suite('what makes room in a full stream of events', () => {
  const fill = { bytes: 720, messages: 72, first_seq: 11, last_seq: 82, maxBytes: 1_000, doneThrough: 82 };

  test('is the oldest, until there is as much room as there should be', () => {
    assert.equal(firstToKeep(fill, 0.7), 11 + 7);
  });

  test('is a portion at a time', () => {
    const large = { ...fill, bytes: 7.2e10, messages: 7.2e6, last_seq: 1e7, doneThrough: 1e7, maxBytes: 1e11 };
    assert.equal(firstToKeep(large, 0.7), 11 + 1_600);
  });

  test('is nothing as long as there is room, and where there is no limit', () => {
    assert.equal(firstToKeep({ ...fill, bytes: 700 }, 0.7), 11);
    assert.equal(firstToKeep({ ...fill, maxBytes: -1 }, 0.7), 11);
  });

  test('is nothing that is not done', () => {
    assert.equal(firstToKeep({ ...fill, doneThrough: 14 }, 0.7), 15);
    assert.equal(firstToKeep({ ...fill, doneThrough: 3 }, 0.7), 11);
    assert.equal(firstToKeep({ ...fill, doneThrough: 0 }, 0.7), 11);
  });

  test('is nothing when the consumer is ahead of the stream, which is not the one it knew', () => {
    assert.equal(firstToKeep({ ...fill, doneThrough: 83 }, 0.7), 11);
  });
});

suite('the next look at the streams of events', () => {
  test('is that of one process, and of each process while a stream is nearly full', () => {
    const ofBoth = (fullest: number) => [lookAgainMs(fullest, true), lookAgainMs(fullest, false)];
    assert.deepEqual(ofBoth(0.5), [10_000, 60_000]);
    assert.deepEqual(ofBoth(0.81), [1_000, 1_000], 'the process that has the turn may not reach the stream');
  });
});

suite('what is dropped from a stream of events by age', () => {
  const fill = { bytes: 720, messages: 72, first_seq: 11, last_seq: 82, maxBytes: 1_000, doneThrough: 82 };

  test('is all that is done and too old', () => {
    assert.equal(firstToKeepByAge(fill, 40), 40);
    assert.equal(firstToKeepByAge(fill, undefined), 83, 'all of it');
    assert.equal(firstToKeepByAge(fill, 0), 11, 'none of it');
  });

  test('is nothing that is not done, however old', () => {
    assert.equal(firstToKeepByAge({ ...fill, doneThrough: 20 }, undefined), 21);
    assert.equal(firstToKeepByAge({ ...fill, doneThrough: 0 }, undefined), 11);
    assert.equal(firstToKeepByAge({ ...fill, doneThrough: 83 }, undefined), 11, 'the floor of another stream');
  });

  test('is a portion at a time', () => {
    const large = { ...fill, bytes: 7.2e10, messages: 7.2e6, last_seq: 1e7, doneThrough: 1e7 };
    assert.equal(firstToKeepByAge(large, undefined), 11 + 1_600);
  });
});

/** A stream of 25 MB; `store` gives the number of requests that it took. */
async function openBed(times: Partial<StreamSettings> = {}) {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ maxFileStoreMb: 50 }));
  opening.use(await openStream({ natsUrl: cluster.url, settings: { ...STREAM_SETTINGS, ...times }, log }));
  const connection = opening.use(await connectNats({ url: cluster.url, name: 'trim', log }));
  const manager = await jetstreamManager(connection.nc);
  const js = jetstream(connection.nc);
  const publisher = opening.use(openPublisher(connection));
  const floors = openFloors({ manager, connection, publisher, line: openWaitingLine(AT_ONCE) });
  const open = opening.move();
  const infoOf = () => manager.streams.info(STREAM);
  return {
    trim: (retentionMs = STREAM_SETTINGS.retentionMs) =>
      trimAll({ manager, streams: () => Promise.resolve([STREAM]), retentionMs, log }),
    floors,
    /** As compute does when it has read so far. */
    async readThrough(through: number) {
      assert.ok(await floors.put(STREAM, { createdAt: Date.parse((await infoOf()).created), through }));
    },
    /** Resolves with the number of requests when the stream is so full. */
    async fill(part: number) {
      let stored = (await infoOf()).state.last_seq;
      for (; (await this.share()) < part; stored += 1) await this.publish(`r${stored}`);
      return stored;
    },
    publish: (id: string) => js.publish(eventSubject(0, 'src_1'), REQUEST, { msgID: id }),
    put: (text: string) => js.publish(bucketSubject(FLOORS_BUCKET, STREAM), text),
    state: async () => (await infoOf()).state,
    share: async () => {
      const { state, config } = await infoOf();
      return state.bytes / config.max_bytes;
    },
    /** Resolves when the newest request is older than this, by the clock of the server that stamps them. */
    async olderThan(ms: number) {
      await until(async () => {
        const { state, ts } = await infoOf();
        return Date.parse(ts ?? '') - Date.parse(state.last_ts) > ms;
      });
    },
    /** As deliver does when all deliveries of a request are done; gives those that it was told to leave open. */
    async finish(count: number, isLeft: (sequence: number) => boolean = () => false) {
      const consumer = await js.consumers.get(STREAM, DELIVER_CONSUMER);
      const left: JsMsg[] = [];
      for await (const message of await consumer.fetch({ max_messages: count, expires: 10_000 })) {
        if (isLeft(message.seq)) left.push(message);
        else await message.ackAck();
      }
      return left;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

suite('a stream of events that fills up', () => {
  test('keeps what is not done, drops what is, oldest first, and takes new requests again', async () => {
    await using bed = await openBed();
    let stored = 0;
    for (; (await bed.share()) < 0.9; stored += 1) await bed.publish(`r${stored}`);
    await bed.trim();
    assert.equal((await bed.state()).messages, stored, 'nothing is done yet');

    const [open] = await bed.finish(20, (sequence) => sequence === 11);
    await Promise.all([bed.trim(), bed.trim()]);
    assert.equal((await bed.state()).first_seq, 11, 'only the first ten were done, whatever was done after them');
    const again = await bed.publish('r0');
    assert.ok(again.duplicate, 'a request that was dropped is still recognised when it comes again');

    await open?.ackAck();
    await bed.finish(stored - 20);
    await bed.trim();
    const share = await bed.share();
    assert.ok(share > 0.6 && share <= 0.66, `${share} full`);
    await bed.trim();
    assert.equal(await bed.share(), share, 'there is room, so what is left stays for replays');
    for (let more = 0; more < 20; more += 1) await bed.publish(`more ${more}`);
  });
});

suite('requests that compute has not read', () => {
  test('stay while there is room for new ones, though they are delivered', async () => {
    await using bed = await openBed();
    const stored = await bed.fill(0.8);
    await bed.finish(stored);
    await bed.readThrough(5);
    await bed.trim();
    assert.equal((await bed.state()).first_seq, 6);
    await bed.readThrough(10);
    await bed.trim();
    assert.equal((await bed.state()).first_seq, 11);
    await bed.floors.remove(STREAM);
    await bed.trim();
    assert.ok((await bed.share()) <= 0.66, 'without definitions there is no floor');
  });

  test('stay beyond the retention', async () => {
    await using bed = await openBed({ retentionMs: 1_000, dedupWindowMs: 1_000 });
    for (const id of ['a', 'b', 'c']) await bed.publish(id);
    await bed.finish(3);
    await bed.readThrough(1);
    await bed.olderThan(1_000);
    await bed.trim(1_000);
    assert.equal((await bed.state()).first_seq, 2);
  });

  test('go when the stream is nearly full: collection comes first, and no more go than it needs', async () => {
    await using bed = await openBed();
    const stored = await bed.fill(0.91);
    await bed.finish(stored);
    await bed.readThrough(5);
    const before = await bed.trim();
    assert.ok(before > 0.9, `${before} full before`);
    const share = await bed.share();
    assert.ok(share > 0.8 && share < 0.85, `${share} full`);
    await bed.trim();
    assert.equal(await bed.share(), share);
  });

  test('never hold up the trimming of a stream that is nearly full, whatever is in their bucket', async () => {
    await using bed = await openBed();
    await bed.finish(await bed.fill(0.91));
    await bed.put('not a floor');
    await bed.trim();
    assert.ok((await bed.share()) < 0.9);
    const { first_seq } = await bed.state();
    await bed.trim();
    assert.equal((await bed.state()).first_seq, first_seq, 'with room to spare it waits for a floor that it can read');
  });

  test('are not those of a stream that was there before under the same name', async () => {
    await using bed = await openBed();
    await bed.finish(await bed.fill(0.8));
    assert.ok(await bed.floors.put(STREAM, { createdAt: 1, through: 0 }));
    await bed.trim();
    assert.ok((await bed.share()) <= 0.66);
  });
});

suite('a request that nobody has delivered', () => {
  test('outlives the retention, while a delivered one goes when it is too old', async () => {
    await using bed = await openBed({ retentionMs: 1_000, dedupWindowMs: 1_000 });
    for (const id of ['a', 'b', 'c', 'd']) await bed.publish(id);
    await bed.finish(2);
    await bed.olderThan(3_000);
    await bed.trim(3_000);
    const { messages, first_seq } = await bed.state();
    assert.deepEqual({ messages, first_seq }, { messages: 2, first_seq: 3 });
    await bed.finish(2);
    await bed.trim(3_600_000);
    assert.equal((await bed.state()).messages, 2, 'neither is an hour old');
    await bed.trim(0);
    assert.equal((await bed.state()).messages, 2, 'without a retention age counts for nothing');
    await bed.trim(3_000);
    assert.equal((await bed.state()).messages, 0);
  });
});
