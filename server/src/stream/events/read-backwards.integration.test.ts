import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { eventStreamName, eventSubject } from '../layout/layout.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream, type Stream } from '../open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { track } from '../../../testing/samples.ts';
import { type Places, readBackwards } from './read-backwards.ts';
import type { EventReader } from './stored-events.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAMS = 16;

let stream: Stream;
let reader: EventReader;
let manager: JetStreamManager;
const opened = new AsyncDisposableStack();
before(async () => {
  const nats = opened.use(await startNatsCluster({ nodes: 1 }));
  const settings = { ...STREAM_SETTINGS, eventStreams: STREAMS };
  stream = opened.use(await openStream({ natsUrl: nats.url, settings, log }));
  reader = opened.use(await stream.controlSide()).events;
  manager = await jetstreamManager(opened.use(await connectNats({ url: nats.url, name: 'test', log })).nc);
});
after(() => opened.disposeAsync());

let requests = 0;

async function append(sourceId: string, home: number, properties: object = {}): Promise<void> {
  requests += 1;
  const id = `req-${requests}`;
  const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id });
  const body = Buffer.from(JSON.stringify({ batch: [track('E', { properties })] }));
  const stored = await stream.append({ sourceId, id, home, envelope, body });
  assert.ok(stored.ok, JSON.stringify(stored));
}

async function appendMany(sourceId: string, home: number, count: number, properties: object = {}): Promise<void> {
  for (let done = 0; done < count; done += 50) {
    const some = Array.from({ length: Math.min(50, count - done) }, () => append(sourceId, home, properties));
    await Promise.all(some);
  }
}

/** A request that moved to the next stream on a busy machine may be stored twice. */
async function storedOf(sourceId: string): Promise<number> {
  let stored = 0;
  for (let index = 0; index < STREAMS; index += 1) {
    const subject = eventSubject(index, sourceId);
    const { state } = await manager.streams.info(eventStreamName(index), { subjects_filter: subject });
    stored += state.subjects?.[subject] ?? 0;
  }
  return stored;
}

type Bounds = { requests: number; ms: number };

/** One page: all that the budget lets through. */
async function readPage(sourceId: string, places: Places | undefined, { requests: most, ms }: Bounds) {
  const budget = { requests: most, untilMs: performance.now() + ms };
  const read = await readBackwards(reader, { sourceId, places }, budget);
  const found: { key: string; storedAt: number }[] = [];
  for (let request = await read.next(); request !== undefined; request = await read.next()) {
    found.push({ key: `${request.stream} ${request.sequence}`, storedAt: request.storedAt });
  }
  return { found, places: read.places(), isAtEnd: read.isAtEnd(), left: budget.requests };
}

async function readAll(sourceId: string, bounds: Bounds) {
  const all: { key: string; storedAt: number }[] = [];
  let pages = 0;
  let page = await readPage(sourceId, undefined, bounds);
  for (;;) {
    pages += 1;
    all.push(...page.found);
    if (page.isAtEnd) return { all, pages };
    assert.ok(page.found.length > 0, `page ${pages} came no further`);
    page = await readPage(sourceId, page.places, bounds);
  }
}

async function assertNewestFirst(all: { key: string; storedAt: number }[], sourceId: string, sent: number) {
  assert.equal(new Set(all.map(({ key }) => key)).size, all.length, 'each once');
  assert.equal(all.length, await storedOf(sourceId), 'all that is stored');
  assert.ok(all.length >= sent);
  assert.ok(all.every(({ storedAt }, at) => storedAt <= (all[at - 1]?.storedAt ?? Infinity)));
}

suite('a read backwards', () => {
  test('gets on with each page, however many streams share the budget', async () => {
    for (let home = 0; home < STREAMS; home += 1) await appendMany('src_wide', home, 120);
    const { all, pages } = await readAll('src_wide', { requests: 800, ms: 60_000 });
    await assertNewestFirst(all, 'src_wide', 1_920);
    assert.ok(pages <= 5, `at least half of the budget is given away: ${pages} pages`);
    await assertNewestFirst((await readAll('src_wide', { requests: 200, ms: 60_000 })).all, 'src_wide', 1_920);
  });

  test('gets on with each page, however little time there is and however large the requests are', async () => {
    await Promise.all([0, 1].map((home) => appendMany('src_large', home, 70, { text: 'x'.repeat(20_000) })));
    await assertNewestFirst((await readAll('src_large', { requests: 2_000, ms: 0 })).all, 'src_large', 140);
  });

  test('finds a source that sent much and then went quiet, and pays only for what it holds', async () => {
    await appendMany('src_quiet', 3, 1_500);
    await appendMany('src_loud', 3, 6_000);
    const { found, left } = await readPage('src_quiet', undefined, { requests: 600, ms: 60_000 });
    assert.ok(found.length >= 300, `${found.length}`);
    assert.ok(left > -64, `${left}`);
    await assertNewestFirst((await readAll('src_quiet', { requests: 600, ms: 60_000 })).all, 'src_quiet', 1_500);
  });
});
