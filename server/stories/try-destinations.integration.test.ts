/** A destination is tried before events go to it: its URL, one call, and what its filters let through. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { verifyBody } from '@millrace/contract';
import { DestinationPreview, TestedDestination, UrlCheck } from '@millrace/contract/control';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { addToken, addWorkspace } from '../testing/control.ts';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { addDestination, addScene, openStack, type Stack, suppressionHeard } from '../testing/stack.ts';
import { track } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

type Problem = { code: string; detail: string; errors?: { path: string; message: string }[] };
type Audit = { items: { action: string; objectId: string; details: object }[] };

/** Nothing listens there. */
const CLOSED_URL = 'http://127.0.0.1:1024/';
const SECRET = 'a shared secret';
const HEADER = 'Bearer clear-header-value-1';

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

/** The answer, which is as its schema says. */
async function post<Schema extends TSchema>(schema: Schema, path: string, body: object): Promise<Static<Schema>> {
  const answered = await stack.get('POST', path, body);
  assert.deepEqual([...Value.Errors(schema, answered)], []);
  return answered as Static<Schema>;
}
const check = (url: string) => post(UrlCheck, '/destinations/check-url', { url });
const send = (id: string, body: object = {}) => post(TestedDestination, `/destinations/${id}/test`, body);
const refused = async (id: string, body: object) => {
  const { status, body: problem } = await stack.ask<Problem>('POST', `/destinations/${id}/test`, body);
  return { status, code: problem.code, why: problem.errors?.[0] };
};
const headerOf = ({ request }: TestedDestination, name: string) =>
  request.headers.find((each) => each.name === name)?.value;

suite('the check of a URL', () => {
  test('is made by deliver, which connects and sends nothing', async () => {
    await using receiver = await openReceiver();
    const checked = await check(receiver.url);
    assert.equal(checked.ok, true, checked.sentence);
    assert.deepEqual(
      checked.steps.map(({ step }) => step),
      ['url', 'policy', 'connect'],
    );
    assert.equal(receiver.received.length, 0);
  });

  test('leaves an entry in the audit log, without path and query', async () => {
    await using receiver = await openReceiver();
    const { port } = new URL(receiver.url);
    await check(`http://127.0.0.1:${port}/secret-path?token=secret`);
    const { items } = await stack.get<Audit>('GET', '/audit-log');
    const entries = items.filter(({ action }) => action === 'url.checked');
    assert.deepEqual(entries[0]?.details, { host: '127.0.0.1', port: Number(port) });
    assert.doesNotMatch(JSON.stringify(items), /secret-path|token=secret/);
    await check('http://10.0.0.1/');
    const { items: after } = await stack.get<Audit>('GET', '/audit-log');
    assert.equal(after.filter(({ action }) => action === 'url.checked').length, entries.length, 'nothing was asked');
  });

  test('can be made sixty times a minute in a workspace, and then in others still', async () => {
    const store = stack.store();
    const ask = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ url: CLOSED_URL });
      const answered = await fetch(`${stack.controlUrl()}/destinations/check-url`, { method: 'POST', headers, body });
      return [answered.status, ((await answered.json()) as { code?: string }).code];
    };
    const [busy, calm] = [
      await addToken(store, await addWorkspace(store), { role: 'owner' }),
      await addToken(store, await addWorkspace(store), { role: 'owner' }),
    ];
    for (let asked = 0; asked < 60; asked += 1) assert.deepEqual(await ask(busy), [200, undefined]);
    assert.deepEqual(await ask(busy), [429, 'too_many_tries']);
    assert.deepEqual(await ask(calm), [200, undefined]);
  });

  test('refuses by the rules of saving what could not be saved', async () => {
    for (const url of [
      'http://10.0.0.1/',
      'https://localhost/',
      'ftp://example.com/',
      'http://u:p@example.com/',
      'x',
    ]) {
      const checked = await check(url);
      assert.deepEqual(
        checked.steps.map(({ step, ok }) => [step, ok]),
        [['url', false]],
      );
      assert.match(checked.sentence, /^The URL cannot be used\. The URL must/);
    }
  });
});

suite('a test', () => {
  test('is sent as a delivery is, and marked; its answer has the exact request without the secrets in it', async () => {
    await using receiver = await openReceiver(echo);
    const settings = { targets: [{ url: receiver.url, headers: { Authorization: HEADER } }], sharedSecret: SECRET };
    const { sourceId } = await addScene(stack, receiver.url);
    const id = await addDestination(stack, sourceId, settings);
    const tested = await send(id);
    const [received] = receiver.received;
    assert.equal(receiver.received.length, 1);
    assert.equal(received?.body, tested.request.body);
    assert.equal(received?.headers['x-millrace-test'], 'true');
    assert.match(String(received?.headers['webhook-id']), /^test_[\w-]{22}$/);
    assert.equal(received?.headers.authorization, HEADER);
    assert.ok(verifyBody(SECRET, received?.body ?? '', String(received?.headers['x-signature'])));
    // Every header that arrived is in the answer with its value, but for the owner's own.
    for (const { name, value } of tested.request.headers) {
      if (name !== 'Authorization') assert.equal(received?.headers[name.toLowerCase()], value, name);
    }
    assert.equal(headerOf(tested, 'Authorization'), null);
    assert.match(String(headerOf(tested, 'X-Signature')), /^[0-9a-f]{40}$/);
    assert.equal(tested.answer.status, 200);
    assert.match(tested.answer.body ?? '', /"authorization":"\[hidden\]"/);
    assert.doesNotMatch(JSON.stringify(tested), /clear-header-value|a shared secret/);
    assert.equal(tested.outcome.kind, 'delivered');
  });

  test('leaves no delivery, no lane and no dead letter behind, and an entry in the audit log', async () => {
    await using receiver = await openReceiver(answer(500));
    const { destinationId, sourceId, writeKey } = await addScene(stack, receiver.url);
    const tested = await send(destinationId);
    assert.equal(tested.outcome.kind, 'retry');
    assert.match(tested.outcome.sentence, /tried again in about 5 s, and then/);
    // The record has a later event, so a record of the test would be there too.
    await stack.get('PATCH', `/destinations/${destinationId}`, {
      filters: [{ field: 'event', op: 'equals', value: 'x' }],
    });
    await until(() => stack.view().destination(destinationId)?.filters !== undefined);
    await stack.send(writeKey, [{ type: 'track', event: 'y', userId: 'u1' }]);
    const deliveries = () => stack.get<{ items: object[] }>('GET', `/deliveries?sourceId=${sourceId}`);
    await until(async () => (await deliveries()).items.length > 0);
    assert.equal((await deliveries()).items.length, 1);
    assert.deepEqual(await stack.laneGroups(), {});
    assert.equal(receiver.received.length, 1);
    const { items } = await stack.get<Audit>('GET', '/audit-log');
    const entry = items.find(({ action, objectId }) => action === 'destination.tested' && objectId === destinationId);
    assert.deepEqual(entry?.details, { targetIndex: 0, type: 'track' });
  });

  test('reaches a destination that is disabled or paused, as it was saved a moment before', async () => {
    await using before = await openReceiver();
    await using after = await openReceiver();
    const { destinationId } = await addScene(stack, before.url);
    await stack.get('PATCH', `/destinations/${destinationId}`, { enabled: false, paused: true });
    assert.equal((await send(destinationId)).answer.status, 200);
    for (let round = 1; round <= 5; round += 1) {
      await stack.get('PATCH', `/destinations/${destinationId}`, { settings: { targets: [{ url: after.url }] } });
      assert.equal((await send(destinationId)).request.url, after.url);
      assert.equal(after.received.length, round);
      await stack.get('PATCH', `/destinations/${destinationId}`, { settings: { targets: [{ url: before.url }] } });
    }
  });

  test('sends a sample of each type, or the given event as collect would accept it', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(stack, receiver.url);
    for (const type of ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete']) {
      const { type: sent } = JSON.parse((await send(destinationId, { type })).request.body) as { type: string };
      assert.equal(sent, type);
    }
    const event = {
      type: 'track',
      userId: 'u7',
      event: 'Ordered',
      properties: { total: 9.5 },
      timestamp: '2026-11-01T00:00:00Z',
    };
    const { body } = (await send(destinationId, { event })).request;
    assert.equal(
      body,
      '{"version":1,"type":"track","userId":"u7","event":"Ordered","properties":{"total":9.5},"timestamp":"2026-11-01T00:00:00.000Z","context":{}}',
    );
    assert.deepEqual(await refused(destinationId, { event: { type: 'track', userId: 'u7' } }), {
      status: 400,
      code: 'invalid_request',
      why: { path: '/event', message: NO_EVENT },
    });
    const given = await refused(destinationId, { event, type: 'track' });
    assert.deepEqual([given.status, given.why?.path], [400, '/type']);
    // Only the sample's user gets the notification that erases a user.
    assert.equal((await refused(destinationId, { event: { type: 'delete', userId: 'u7' } })).status, 400);
    const large = await refused(destinationId, { event: { ...event, properties: { text: 'x'.repeat(33_000) } } });
    assert.match(large.why?.message ?? '', /call_too_large/);
  });

  test('goes to the target that it names', async () => {
    await using first = await openReceiver();
    await using second = await openReceiver(answer(410));
    const { destinationId } = await addScene(stack, first.url);
    const targets = [{ url: first.url }, { url: second.url }];
    await stack.get('PATCH', `/destinations/${destinationId}`, { settings: { targets } });
    const tested = await send(destinationId, { targetIndex: 1 });
    assert.equal(tested.request.url, second.url);
    assert.deepEqual([tested.answer.status, tested.outcome.kind], [410, 'discarded']);
    assert.equal(first.received.length, 0);
    const none = await refused(destinationId, { targetIndex: 2 });
    assert.deepEqual(none.why, { path: '/targetIndex', message: 'must be below 2: the destination has 2 targets' });
  });

  test('follows no redirect, reads no more than 16 KiB, and waits no longer than a delivery would', async () => {
    await using elsewhere = await openReceiver();
    await using redirecting = await openReceiver(answer(302, { Location: elsewhere.url }));
    await using huge = await openReceiver(
      (_, response) => void response.writeHead(200).end('\u0001'.repeat(1_000_000)),
    );
    await using slow = await openReceiver(() => undefined);
    await using busy = await openReceiver(answer(429, { 'Retry-After': '120' }));
    const { sourceId } = await addScene(stack, elsewhere.url);
    const urls = [redirecting, huge, slow, busy].map(({ url }) => url);
    const ids = await Promise.all(urls.map((url) => addDestination(stack, sourceId, { targets: [{ url }] })));
    const tested = await Promise.all(ids.map((id) => send(id)));
    assert.deepEqual(
      tested.map((each) => [each.answer.status, each.answer.errorClass, each.outcome.kind]),
      [
        [302, null, 'discarded'],
        [200, null, 'delivered'],
        [null, 'timeout', 'retry'],
        [429, null, 'retry'],
      ],
    );
    assert.equal(elsewhere.received.length, 0);
    assert.equal(tested[1]?.answer.body?.length, 16_384);
    assert.ok((tested[2]?.answer.timings.totalMs ?? 0) < 6_000);
    assert.match(tested[3]?.outcome.sentence ?? '', /in about 120 s, because the receiver asked to wait/);
  });

  test('twenty at once: a token has four, the others are told to come back, and another workspace is not kept waiting', async () => {
    await using slow = await openReceiver(() => undefined);
    await using quick = await openReceiver();
    const { destinationId, sourceId } = await addScene(stack, slow.url);
    const asked = Array.from({ length: 20 }, () => stack.ask('POST', `/destinations/${destinationId}/test`, {}));
    await until(() => slow.received.length === 4);
    const other = await addOther(quick.url);
    const startedAt = performance.now();
    assert.equal((await other('POST', `/destinations/${other.destinationId}/test`, {})).status, 200);
    assert.ok(performance.now() - startedAt < 3_000, 'not behind the slow ones');
    // Nor do previews of the same workspace wait for them.
    await stack.get('POST', '/destinations/preview', { sourceId });
    const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array<number>(4).fill(200), ...Array<number>(16).fill(429)]);
    assert.equal(slow.received.length, 4);
    assert.equal((await other('POST', `/destinations/${destinationId}/test`, {})).status, 404);
  });
});

suite('the preview of a destination', () => {
  const preview = (body: object) => post(DestinationPreview, '/destinations/preview', body);

  test('sorts the last events as deliver will: the bodies are those that the receiver gets', async () => {
    await using receiver = await openReceiver();
    const { sourceId, writeKey } = await addScene(stack, CLOSED_URL);
    await stack.get('POST', `/sources/${sourceId}/events`, { name: 'Blocked', blocked: true });
    await stack.get('POST', '/deletion-requests', { userIds: ['u-gone'], sources: [sourceId], suppress: true });
    const filters = [
      { field: 'type', op: 'equals', value: 'track' },
      { field: 'properties.total', op: 'greater', value: 10 },
    ];
    const settings = { targets: [{ url: receiver.url }], bodyFormat: 'full' };
    const destination = { sourceId, catalog: 'Webhooks', enabled: true, filters, settings };
    const { id } = await stack.get<{ id: string }>('POST', '/destinations', destination);
    await until(() => stack.view().destination(id) !== undefined && stack.view().isEventBlocked(sourceId, 'Blocked'));
    await suppressionHeard(stack, sourceId, 'u-gone');
    const order = (messageId: string, total: number, change: object = {}) => ({
      type: 'track',
      messageId,
      userId: 'u1',
      event: 'Ordered',
      properties: { total },
      ...change,
    });
    await stack.append(sourceId, order('gone', 20, { userId: 'u-gone', event: 'Of somebody' }));
    assert.equal(
      await stack.send(writeKey, [
        order('small', 5),
        order('large', 20),
        order('off', 20, { integrations: { All: false } }),
        order('blocked', 20, { event: 'Blocked' }),
        { type: 'identify', messageId: 'other', userId: 'u1' },
        order('larger', 30),
      ]),
      200,
    );
    await until(() => receiver.received.length === 2);
    const { looked, delivered, skipped } = await preview({ sourceId, filters, settings });
    assert.deepEqual([looked.events, looked.endedBy, delivered.count, skipped.count], [7, 'all', 2, 5]);
    assert.match(looked.sentence, /^Looked at the last 7 stored events, received from .* to .*\. These are all/);
    const bodies = (each: { body: string }[]) => each.map(({ body }) => body).toSorted();
    assert.deepEqual(bodies(delivered.first), bodies(receiver.received));
    assert.deepEqual(
      delivered.first.map(({ messageId }) => messageId),
      ['larger', 'large'],
    );
    assert.deepEqual(Object.fromEntries(skipped.by.map(({ sentence, count }) => [sentence, count])), {
      "Not sent: the destination's filter asks for events where properties.total greater 10.": 1,
      'Not sent: the destination\'s filter asks for events where type equals "track".': 1,
      'Not sent: the event "Blocked" is blocked in the source\'s schema.': 1,
      'Not sent: the user has asked to be forgotten, and their calls are dropped.': 1,
      "Not sent: the call's own integrations map turns this kind of destination off.": 1,
    });
    assert.deepEqual(
      skipped.first.map(({ messageId, reason, rule }) => [messageId, reason, rule]),
      [
        ['other', 'filtered', 'type equals "track"'],
        ['blocked', 'blocked_event', null],
        ['off', 'integrations_map', null],
        ['small', 'filtered', 'properties.total greater 10'],
      ],
    );
    assert.equal(receiver.received.length, 2, 'a preview sends nothing');
    const event = JSON.parse(delivered.first[0]?.body ?? '') as { properties: object };
    const tested = await send(id, { event });
    assert.deepEqual((JSON.parse(tested.request.body) as typeof event).properties, event.properties);
    assert.equal(receiver.received.length, 3);
  });

  test('says how far it looked, and shows the first twenty of each', async () => {
    const { sourceId, writeKey } = await addScene(stack, CLOSED_URL);
    const empty = await preview({ sourceId });
    assert.equal(empty.looked.sentence, 'The source has no stored events.');
    for (let round = 0; round < 4; round += 1) {
      const calls = Array.from({ length: 50 }, (_, at) => track(`${round}-${at}`));
      assert.equal(await stack.send(writeKey, calls), 200);
    }
    const some = await preview({ sourceId });
    assert.deepEqual([some.looked.events, some.looked.endedBy], [100, 'last']);
    assert.match(some.looked.sentence, /^Looked at the last 100 stored events, .*\. Older ones were not looked at\.$/);
    assert.deepEqual([some.delivered.count, some.delivered.first.length], [100, 20]);
    const none = await preview({ sourceId, last: 1_000, filters: [{ field: 'type', op: 'equals', value: 'page' }] });
    assert.deepEqual([none.looked.events, none.looked.endedBy], [200, 'all']);
    assert.deepEqual([none.delivered.count, none.skipped.count, none.skipped.first.length], [0, 200, 20]);
  });

  test('refuses filters that could not be saved, other kinds of destinations, and sources of others', async () => {
    const { sourceId } = await addScene(stack, CLOSED_URL);
    const filters = [{ field: 'nothing', op: 'equals', value: 1 }];
    const ask = (body: object) => stack.ask<Problem>('POST', '/destinations/preview', { sourceId, ...body });
    assert.equal((await ask({ filters })).body.errors?.[0]?.path, '/filters/0/field');
    assert.equal((await ask({ last: 1_001 })).status, 400);
    assert.equal((await ask({ catalog: 'Mail' })).status, 400);
    assert.equal((await ask({ settings: { bodyFormat: 'short' } })).status, 400);
    assert.equal((await ask({ settings: { targets: [], sharedSecret: 'whatever' } })).status, 200);
    const other = await addOther(CLOSED_URL);
    assert.equal((await other('POST', '/destinations/preview', { sourceId })).status, 404);
  });
});

suite('without a deliver process', () => {
  test('a check and a test say so at once, with what to do; a preview is made all the same', async () => {
    await using alone = await openStack({ MILLRACE_ROLES: 'collect,control' });
    await using receiver = await openReceiver();
    const { id: sourceId } = await alone.get<{ id: string }>('POST', '/sources', { name: 'Shop' });
    const destinationId = await addDestination(alone, sourceId, { targets: [{ url: receiver.url }] });
    const startedAt = performance.now();
    const asked = [
      await alone.ask<Problem>('POST', `/destinations/${destinationId}/test`, {}),
      await alone.ask<Problem>('POST', '/destinations/check-url', { url: receiver.url }),
    ];
    assert.ok(performance.now() - startedAt < 5_000);
    for (const { status, body } of asked) {
      assert.deepEqual([status, body.code], [503, 'no_deliver']);
      assert.match(body.detail, /with the role deliver: start one/);
    }
    assert.equal((await alone.ask('POST', '/destinations/preview', { sourceId })).status, 200);
    assert.equal(receiver.received.length, 0);
  });
});

const NO_EVENT =
  'would be refused by the collection API (event_not_defined): The track call has no event name. Send it as event.';

function echo({ headers }: Received, response: Parameters<ReturnType<typeof answer>>[1]): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(headers));
}

/** The owner of another workspace, with a destination of its own. */
async function addOther(url: string) {
  const store = stack.store();
  const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
  const ask = async (method: string, path: string, body: object) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const answered = await fetch(`${stack.controlUrl()}${path}`, { method, headers, body: JSON.stringify(body) });
    return { status: answered.status, body: (await answered.json()) as { id: string } };
  };
  const source = await ask('POST', '/sources', { name: 'Other' });
  const made = await ask('POST', '/destinations', {
    sourceId: source.body.id,
    catalog: 'Webhooks',
    settings: { targets: [{ url }] },
  });
  return Object.assign(ask, { destinationId: made.body.id });
}
