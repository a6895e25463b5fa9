import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { DELIVER_CONSUMER, eventSubject, type StreamSettings } from '../layout/layout.ts';
import { openStream } from '../open-stream.ts';
import { firstToKeep, firstToKeepByAge, trimAll } from './trim-events.ts';
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
  const open = opening.move();
  const infoOf = () => manager.streams.info(STREAM);
  return {
    trim: (retentionMs = STREAM_SETTINGS.retentionMs) =>
      trimAll({ manager, streams: () => Promise.resolve([STREAM]), retentionMs, log }),
    publish: (id: string) => js.publish(eventSubject(0, 'src_1'), REQUEST, { msgID: id }),
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
