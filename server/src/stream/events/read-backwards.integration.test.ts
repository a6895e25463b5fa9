import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { openStream, type Stream } from '../open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { track } from '../../../testing/samples.ts';
import { type Places, readBackwards } from './read-backwards.ts';
import type { EventReader } from './stored-events.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAMS = 16;

let stream: Stream;
let reader: EventReader;
const opened = new AsyncDisposableStack();
before(async () => {
  const nats = opened.use(await startNatsCluster({ nodes: 1 }));
  const settings = { ...STREAM_SETTINGS, eventStreams: STREAMS };
  stream = opened.use(await openStream({ natsUrl: nats.url, settings, log }));
  reader = opened.use(await stream.controlSide()).events;
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

function assertNewestFirst(all: { key: string; storedAt: number }[], count: number): void {
  assert.equal(new Set(all.map(({ key }) => key)).size, count, 'each once');
  assert.equal(all.length, count);
  assert.ok(all.every(({ storedAt }, at) => storedAt <= (all[at - 1]?.storedAt ?? Infinity)));
}

suite('a read backwards', () => {
  test('gets on with each page, however many streams share the budget', async () => {
    for (let home = 0; home < STREAMS; home += 1) await appendMany('src_wide', home, 120);
    const { all, pages } = await readAll('src_wide', { requests: 800, ms: 60_000 });
    assertNewestFirst(all, 1_920);
    assert.ok(pages <= 5, `at least half of the budget is given away: ${pages} pages`);
    assertNewestFirst((await readAll('src_wide', { requests: 200, ms: 60_000 })).all, 1_920);
  });

  test('gets on with each page, however little time there is and however large the requests are', async () => {
    await Promise.all([0, 1].map((home) => appendMany('src_large', home, 70, { text: 'x'.repeat(20_000) })));
    assertNewestFirst((await readAll('src_large', { requests: 2_000, ms: 0 })).all, 140);
  });

  test('finds a source that sent much and then went quiet, and pays only for what it holds', async () => {
    await appendMany('src_quiet', 3, 1_500);
    await appendMany('src_loud', 3, 6_000);
    const { found, left } = await readPage('src_quiet', undefined, { requests: 600, ms: 60_000 });
    assert.ok(found.length >= 300, `${found.length}`);
    assert.ok(left > -64, `${left}`);
    assertNewestFirst((await readAll('src_quiet', { requests: 600, ms: 60_000 })).all, 1_500);
  });
});
