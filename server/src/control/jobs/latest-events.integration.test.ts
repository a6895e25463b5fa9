import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import type { EventReader } from '../../stream/events/stored-events.ts';
import { openStream, type Stream } from '../../stream/open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { track } from '../../../testing/samples.ts';
import { until } from '../../../testing/until.ts';
import { latestEvents } from './latest-events.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAMS = 2;
const MINUTE = 60_000;

let stream: Stream;
let reader: EventReader;
const opened = new AsyncDisposableStack();
before(async () => {
  const nats = opened.use(await startNatsCluster({ nodes: 1 }));
  stream = opened.use(
    await openStream({ natsUrl: nats.url, settings: { ...STREAM_SETTINGS, eventStreams: STREAMS }, log }),
  );
  reader = opened.use(await stream.controlSide()).events;
});
after(() => opened.disposeAsync());

let requests = 0;

/** One request with these calls, in the stream with this number. */
async function append(sourceId: string, calls: object[], home = requests % STREAMS): Promise<void> {
  requests += 1;
  const id = `req-${requests}`;
  const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id });
  const body = Buffer.from(JSON.stringify({ batch: calls }));
  const stored = await stream.append({ sourceId, id, home, envelope, body });
  assert.ok(stored.ok);
}

const look = async (sourceId: string, most: number, maxMs = MINUTE) => {
  const { events, endedBy } = await latestEvents(reader, { sourceId, most, maxMs });
  return { names: events.toReversed().map((event) => event['event']), endedBy };
};
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `e${from + at}`);

suite('the latest events of a source', () => {
  test('are found in all streams, among the requests of others, in the order in which they were stored', async () => {
    for (let at = 0; at < 30; at += 1) {
      await append('src_sparse', [track(`e${at}`)]);
      const others = Array.from({ length: 20 }, () => append('src_busy', [track('other')]));
      await Promise.all(others);
      // Requests of two streams are ordered by the millisecond in which they were stored: each gets one of its own.
      const storedBy = Date.now();
      await until(() => Date.now() > storedBy, MINUTE);
    }
    assert.deepEqual(await look('src_sparse', 10), { names: names(20, 30), endedBy: 'last' });
    assert.deepEqual(await look('src_sparse', 30), { names: names(0, 30), endedBy: 'all' });
    assert.deepEqual(await look('src_sparse', 1_000), { names: names(0, 30), endedBy: 'all' });
    assert.equal((await look('src_busy', 250)).names.length, 250);
    assert.deepEqual(await look('src_none', 10), { names: [], endedBy: 'all' });
  });

  test('are the last calls of a batch that has more', async () => {
    await append(
      'src_batch',
      names(0, 500).map((name) => track(name)),
      0,
    );
    assert.deepEqual(await look('src_batch', 3), { names: names(497, 500), endedBy: 'last' });
    assert.deepEqual(await look('src_batch', 600), { names: names(0, 500), endedBy: 'all' });
  });

  test('are no more than their size allows', async () => {
    const text = 'x'.repeat(30_000);
    for (let round = 0; round < 30; round += 1) {
      const batch = names(round * 16, round * 16 + 16).map((name) => track(name, { properties: { text } }));
      await append('src_large', batch, 0);
    }
    const { names: found, endedBy } = await look('src_large', 1_000);
    assert.equal(endedBy, 'size');
    assert.deepEqual(found, names(480 - found.length, 480));
    assert.ok(found.length > 200 && found.length < 300, `${found.length} of 480`);
  });

  test('are the newest, and never none, when the time is over', async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => append('src_long', [track('x')], 0)));
    }
    const { names: found, endedBy } = await look('src_long', 1_000, 0);
    assert.equal(endedBy, 'time');
    assert.ok(found.length > 0 && found.length < 1_000, `${found.length}`);
  });

  test('are found of a source that sent much and then went quiet', async () => {
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => append('src_quiet', [track('x')])));
    }
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => append('src_busy', [track('other')])));
    }
    assert.deepEqual(await look('src_quiet', 10), { names: Array<string>(10).fill('x'), endedBy: 'last' });
    assert.equal((await look('src_quiet', 10, 0)).names.length, 10);
  });
});
