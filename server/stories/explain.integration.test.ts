/** Each way an event can go, with every role and both engines: explain tells the true story. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import type { DestinationHealth, Explanation, Source } from '@millrace/contract/control';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { readConfig } from '../src/config.ts';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { openLog } from '../src/log.ts';
import { monthsSince } from '../testing/stack.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import { until } from '../testing/until.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';
/** Four hours in ten seconds. */
const SCALE = 1_440;
const startedAt = new Date();
const stack = new AsyncDisposableStack();
let running: Running;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
const tries = new Map<string, number>();

/** The path names the answers of the receiver: `/hook/503,200` fails once, then takes it. */
function respond(received: Received, response: ServerResponse): void {
  const [, , statuses = '200', name = ''] = received.path.split('/');
  const id = `${name}${String(received.headers['webhook-id'])}`;
  const count = tries.get(id) ?? 0;
  tries.set(id, count + 1);
  const each = statuses.split(',');
  const status = Number(each[count] ?? each.at(-1));
  answer(status, status === 429 ? { 'Retry-After': '9' } : {})(received, response);
}

type Way = { key: string; sourceId: string; destinationId: string };
const ways = new Map<string, Way>();

before(async () => {
  const nats = stack.use(await startNatsCluster({ nodes: 1 }));
  const postgres = stack.use(await startMigratedPostgres());
  receiver = stack.use(await openReceiver(respond));
  const read = readConfig({
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DRAIN_MS: '0',
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_RETRY_SCALE: String(SCALE),
    MILLRACE_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
  });
  assert.ok(read.ok);
  running = stack.use(await startRoles(read.value, openLog({ level: 'fatal', pretty: false })));
  for (const name of ['200', '503,200', '404', '503', '429', 'off']) ways.set(name, await addWay(name));
  await ask('POST', `/sources/${way('200').sourceId}/events`, { name: 'Blocked', blocked: true });
  await settled();
});
after(() => stack.disposeAsync());

const way = (name: string): Way => ways.get(name) ?? assert.fail(name);

async function addWay(name: string): Promise<Way> {
  const source = await ask<Source>('POST', '/sources', { name });
  const url = receiver.url.replace('/hook', `/hook/${name === 'off' ? '200' : name}/${name}`);
  const wanted = { sourceId: source.id, catalog: 'Webhooks', name: `to ${name}`, enabled: name !== 'off' };
  const { id } = await ask<{ id: string }>('POST', '/destinations', { ...wanted, settings: { targets: [{ url }] } });
  return { key: source.writeKeys[0]?.key ?? '', sourceId: source.id, destinationId: id };
}

/** Changes are told in order, so when the last one is known, all are. */
async function settled(): Promise<void> {
  const last = await ask<Source>('POST', '/sources', { name: 'last' });
  await until(async () => (await send(last.writeKeys[0]?.key ?? '', 'settled')).status === 200);
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const answered = await fetch(`http://127.0.0.1:${running.control?.port}/api/v1${path}`, init);
  const text = await answered.text();
  assert.ok(answered.ok, text);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

function send(key: string, messageId: string, more: object = {}): Promise<Response> {
  const body = { type: 'track', event: 'Signed Up', userId: 'u1', messageId, ...more };
  const headers = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const url = `http://127.0.0.1:${running.collectPort}/v1/track`;
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

type Told = Explanation['destinations'][number];

/** Waits until the record says so. */
async function explained(messageId: string, isTrue: (told: Told) => boolean): Promise<Told> {
  let last: Explanation | undefined;
  const isSaid = async () => {
    last = await ask<Explanation>('GET', `/events/${messageId}/explain`);
    return last.destinations[0] !== undefined && isTrue(last.destinations[0]);
  };
  await until(isSaid, undefined, () => `explained as ${JSON.stringify(last, null, 1)}`);
  return last?.destinations[0] ?? assert.fail();
}

suite('explain', () => {
  test('begins with one that will be given up when its time is over', async () => {
    await send(way('503').key, 'doomed');
  });

  test('tells of an event that was delivered at once', async () => {
    await send(way('200').key, 'm/at once');
    const told = await explained('m%2Fat%20once', ({ state }) => state === 'delivered');
    assert.equal(told.attempts, 1);
    assert.match(told.story.join('\n'), /^Attempt 1 at .*: the receiver answered 200 \(http.*\)\.\nDelivered at .*\.$/);
  });

  test('tells of one that was delivered after retries', async () => {
    await send(way('503,200').key, 'later');
    const told = await explained('later', ({ state }) => state === 'delivered');
    assert.deepEqual(
      told.history.map(({ attempt, outcome, answers }) => [attempt, outcome, answers[0]?.status]),
      [
        [1, 'retry', 503],
        [2, 'delivered', 200],
      ],
    );
    assert.match(told.story.at(-1) ?? '', /^Delivered at .*, after 2 attempts\.$/);
  });

  test('tells of one that the receiver refused', async () => {
    await send(way('404').key, 'refused');
    const told = await explained('refused', ({ state }) => state === 'discarded');
    assert.deepEqual([told.errorClass, told.lastStatus], ['http_404', 404]);
    assert.match(told.story.join('\n'), /answered 404.*\nGiven up: the receiver refused it/);
  });

  test('tells where one waits and until when', async () => {
    await send(way('429').key, 'asks for time');
    await explained('asks for time', ({ state, lane }) => state === 'retrying' && lane?.state === 'asked_to_wait');
    await send(way('429').key, 'stands in line');
    const told = await explained('stands in line', ({ state, lane }) => {
      return state === 'pending' && lane?.state === 'asked_to_wait';
    });
    assert.match(told.story.join('\n'), /^It was not tried yet.*\nThe receiver asked us to wait/);
  });

  test('tells why one was skipped: the destination, the call, the schema', async () => {
    await send(way('off').key, 'off');
    await send(way('200').key, 'not wanted', { integrations: { All: false } });
    await send(way('200').key, 'blocked', { event: 'Blocked' });
    const reasons = { off: 'destination_disabled', 'not%20wanted': 'integrations_map', blocked: 'blocked_event' };
    for (const [messageId, reason] of Object.entries(reasons)) {
      const told = await explained(messageId, ({ state }) => state === 'skipped');
      assert.equal(told.reason, reason);
      assert.match(told.story.join(), /^Not sent: .*(enabled|integrations map|"Blocked" is blocked)/);
    }
  });

  test('tells why a call was refused, and says so when it knows nothing', async () => {
    assert.equal((await send(way('200').key, 'nameless', { event: undefined })).status, 400);
    let told: Explanation | undefined;
    await until(async () => {
      told = await ask<Explanation>('GET', '/events/nameless/explain');
      return told.verdict === 'refused';
    });
    assert.match(told?.story.join() ?? '', /event_not_defined\): The track call has no event name/);
    assert.ok(!JSON.stringify(told).includes(way('200').key));
    assert.equal((await ask<Explanation>('GET', '/events/never/explain')).verdict, 'unknown');
  });

  test('tells of one whose time was over', async () => {
    const told = await explained('doomed', ({ state }) => state === 'expired');
    assert.ok(told.history.length > 2);
    assert.match(told.story.at(-1) ?? '', /^Given up: its 4 hours are over/);
  });
});

suite('what else the record answers', () => {
  test('the health of a destination', async () => {
    const good = await ask<DestinationHealth>('GET', `/destinations/${way('200').destinationId}/health`);
    assert.match(good.sentence, /^All is well: 1 deliveries in the last hour/);
    assert.deepEqual(good.lastHour, { delivered: 1, retry: 0, discarded: 0, expired: 0, skipped: 2 });
    assert.ok((good.latencyMs.p99 ?? 0) > 0);
    const bad = await ask<DestinationHealth>('GET', `/destinations/${way('404').destinationId}/health`);
    assert.deepEqual(bad.errorClasses, [{ errorClass: 'http_404', count: 1 }]);
  });

  test('lists by each filter, page by page', async () => {
    type Page = { items: { messageId: string }[]; nextCursor: string | null };
    const list = (query: string) => ask<Page>('GET', `/deliveries?${query}`);
    const ids = async (query: string) => (await list(query)).items.map(({ messageId }) => messageId);
    assert.deepEqual(await ids('state=discarded'), ['refused']);
    assert.deepEqual(await ids('errorClass=http_404'), ['refused']);
    assert.deepEqual(await ids('event=Blocked&userId=u1'), ['blocked']);
    assert.deepEqual(await ids(`sourceId=${way('off').sourceId}`), ['off']);
    assert.deepEqual(await ids(`destinationId=${way('404').destinationId}&from=2020-01-01T00:00:00Z`), ['refused']);
    assert.deepEqual(await ids('to=2020-01-01T00:00:00Z'), []);
    const first = await list('limit=4');
    const rest = await list(`limit=100&cursor=${first.nextCursor}`);
    const seen = [...first.items, ...rest.items].map(({ messageId }) => messageId);
    assert.equal(seen.length, new Set(seen).size);
    assert.deepEqual(seen, await ids('limit=100'));
  });

  test('usage, counted before the filters', async () => {
    type Usage = { sources: { sourceId: string; calls: number }[] };
    const callsIn = async (month: string) => {
      const { sources } = await ask<Usage>('GET', `/usage?month=${month}`);
      return sources.find(({ sourceId }) => sourceId === way('200').sourceId)?.calls ?? 0;
    };
    const callsOf = async () => {
      let calls = 0;
      for (const month of monthsSince(startedAt)) calls += await callsIn(month);
      return calls;
    };
    // One delivered, one not wanted, one blocked; the refused one does not count.
    await until(async () => (await callsOf()) === 3);
  });

  test('counters over time that add up to what happened', async () => {
    type Metrics = { series: Record<string, number>[] };
    const happened = { discarded: 0, expired: 0, skipped: 0 };
    // Without the one that was asked to wait: its retry may be over by now, or not.
    for (const name of ['200', '503,200', '404', '503', 'off']) {
      const { series } = await ask<Metrics>(
        'GET',
        `/metrics/deliveries?step=60&destinationId=${way(name).destinationId}`,
      );
      for (const step of series) {
        for (const each of ['discarded', 'expired', 'skipped'] as const) happened[each] += step[each] ?? 0;
      }
    }
    assert.deepEqual(happened, { discarded: 1, expired: 1, skipped: 3 });
  });
});
