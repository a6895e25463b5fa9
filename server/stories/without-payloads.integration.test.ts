/** The role `viewer-without-payloads`, and which reads the audit log tells of, over a whole stack with a marked user in every store. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { STREAM_ROUTES, ROUTES } from '../src/control/all-routes.ts';
import { userHash } from '../src/domain/withheld.ts';
import { addToken } from '../testing/control.ts';
import { openAudience, order } from '../testing/audiences.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

/** Stands in ids, traits, properties and the answers of the receiver. */
const MARK = 'marked-person';
const USER = `${MARK}@example.com`;

type Bed = Awaited<ReturnType<typeof openBed>>;
let bed: Bed;
before(async () => void (bed = await openBed()));
after(() => bed[Symbol.asyncDispose]());

/** Deliveries that were refused, dead letters, refused calls, a replay by user, a profile, all of the marked user. */
async function openBed() {
  await using opening = new AsyncDisposableStack();
  const { stack, scene, id: definitionId, workspaceId } = opening.use(await openAudience());
  const echo = opening.use(await openReceiver(({ body }, response) => response.writeHead(400).end(body)));
  const failing = await addScene(stack, echo.url);
  const identify = { type: 'identify', userId: USER, anonymousId: `${MARK}-phone`, messageId: 'i1', traits: { MARK } };
  await stack.send(scene.writeKey, [identify, order(USER, 700, 'o1')]);
  await stack.send(failing.writeKey, [{ ...order(USER, 1, 'o2'), properties: { note: MARK } }]);
  await stack.sendBody(failing.writeKey, { batch: [{ type: 'track', userId: USER, properties: { MARK } }] });
  const get = <T>(path: string) => stack.get<T>('GET', path);
  type Items = { items: { id: string }[] };
  const letters = () => get<Items>(`/dead-letters?destinationId=${failing.destinationId}`);
  await until(async () => (await letters()).items.length === 1);
  await until(async () => (await get<Items>(`/deliveries?destinationId=${failing.destinationId}`)).items.length === 1);
  await until(async () => (await get<Items>(`/sources/${failing.sourceId}/refusals`)).items.length > 0);
  await until(async () => (await get<Items>(`/definitions/${definitionId}/members`)).items.length === 1);
  const [from, to] = [new Date(Date.now() - 3_600_000).toISOString(), new Date(Date.now() + 60_000).toISOString()];
  const range = { sourceId: failing.sourceId, destinationId: failing.destinationId, from, to };
  const replay = await stack.get('POST', '/replays', { ...range, filter: { userIds: [USER] } });
  const [letter] = (await letters()).items;
  const [delivery] = (await get<Items>(`/deliveries?destinationId=${failing.destinationId}`)).items;
  const store = stack.store();
  const token = (role: 'viewer' | 'viewer-without-payloads') => addToken(store, workspaceId, { role });
  const ids: Record<string, string | undefined> = {
    sources: failing.sourceId,
    destinations: failing.destinationId,
    letters: letter?.id,
    deliveries: delivery?.id,
    replays: String(replay['id']),
    definitions: definitionId,
  };
  const blind = await token('viewer-without-payloads');
  const viewer = await token('viewer');
  const open = opening.move();
  return { stack, ids, range, workspaceId, blind, viewer, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function pathOf(url: string): string {
  return url
    .slice('/api/v1'.length)
    .replace(':definitionId', bed.ids['definitions'] ?? '')
    .replace(':userId', encodeURIComponent(USER))
    .replace(':messageId', 'o2')
    .replace(/(\w+)\/:id/, (_, kind: string) => `${kind}/${bed.ids[kind] ?? 'unknown'}`)
    .concat(url === '/api/v1/stored-events' ? `?sourceId=${bed.ids['sources']}` : '')
    .concat(url.endsWith('/feed') ? '?from=2020-01-01T00:00:00Z' : '');
}

async function read(token: string, method: string, path: string, body?: object) {
  const { status, body: answer } = await bed.stack.as(token).ask(method, path, body);
  return { status, text: JSON.stringify(answer) };
}

const READS = ROUTES.filter(({ method }) => method === 'GET');
const POSTED = () =>
  [
    ['/replays/preview', bed.range],
    ['/destinations/preview', { sourceId: bed.range.sourceId }],
    ['/definitions/preview', { definition: { kind: 'audience', name: 'P', when: { event: 'Order Completed', atLeast: 1 } }, exact: true }], // biome-ignore format: short
  ] as const;

suite('a viewer without payloads', () => {
  test('gets nothing of a person from any endpoint, and a viewer does', async () => {
    const shown: string[] = [];
    for (const { url } of READS) {
      const [whole, bare] = [await read(bed.viewer, 'GET', pathOf(url)), await read(bed.blind, 'GET', pathOf(url))];
      if (whole.text.includes(MARK)) shown.push(url.slice('/api/v1'.length));
      assert.ok(!bare.text.includes(MARK), `${url}: ${bare.text}`);
      assert.ok(bare.status === whole.status || bare.status === 403, `${url}: ${bare.status}`);
    }
    assert.deepEqual(shown.toSorted(), [
      '/dead-letters/:id',
      '/definitions/:id/history',
      '/definitions/:id/members',
      '/deliveries',
      '/deliveries/:id',
      '/deliveries/:id/request',
      '/events/:messageId/explain',
      '/profiles/:userId',
      '/replays',
      '/replays/:id',
      '/sources/:id/feed',
      '/sources/:id/refusals',
      '/sources/:id/schema',
      '/stored-events',
    ]);
    const marked = new Set<string>(READS.filter(({ payloads }) => payloads !== undefined).map(({ url }) => url));
    for (const path of shown) assert.ok(marked.has(`/api/v1${path}`), `${path} is not marked as one with payloads`);
  });

  test('gets counts from previews, and none whose conditions ask about people', async () => {
    for (const [path, body] of POSTED()) {
      const [whole, bare] = [await read(bed.viewer, 'POST', path, body), await read(bed.blind, 'POST', path, body)];
      assert.equal(whole.status, 200, path);
      assert.match(whole.text, new RegExp(MARK), path);
      assert.ok(!bare.text.includes(MARK), path);
      assert.equal(bare.status, path === '/replays/preview' ? 200 : 403, path);
    }
    const asking = { ...bed.range, filter: { userIds: [USER] } };
    assert.equal((await read(bed.blind, 'POST', '/replays/preview', asking)).status, 403);
    assert.equal((await read(bed.blind, 'GET', `/deliveries?userId=${encodeURIComponent(USER)}`)).status, 403);
    assert.equal((await read(bed.viewer, 'GET', `/deliveries?userId=${encodeURIComponent(USER)}`)).status, 200);
  });

  test('still learns what became of an event, and why', async () => {
    const { text } = await read(bed.blind, 'GET', '/events/o2/explain');
    assert.match(text, /"verdict":"accepted"/);
    assert.match(text, /the receiver answered 400/);
  });

  test('is matched by a token without the permission: it sees no ids in replays that it steers, and starts none by user', async () => {
    const scopes = ['replays:read', 'replays:write'];
    const narrow = await addToken(bed.stack.store(), bed.workspaceId, { role: 'developer', scopes });
    // One that runs would end by itself before it is asked to pause.
    await bed.stack.sql(`UPDATE jobs SET state = 'paused' WHERE id = $1`, [bed.ids['replays']]);
    for (const verb of ['resume', 'pause', 'cancel']) {
      const { status, text } = await read(narrow, 'POST', `/replays/${bed.ids['replays']}/${verb}`);
      assert.ok(!text.includes(MARK), text);
      if (verb === 'resume') assert.equal(status, 200, text);
    }
    const asking = { ...bed.range, filter: { userIds: [USER] } };
    assert.equal((await read(narrow, 'POST', '/replays', asking)).status, 403);
    assert.equal((await read(narrow, 'POST', '/replays', bed.range)).status, 201);
  });

  test('opens no live tail', async () => {
    for (const { url } of STREAM_ROUTES.filter(({ payloads }) => payloads !== undefined)) {
      assert.equal((await read(bed.blind, 'GET', pathOf(url))).status, 403);
    }
  });
});

suite('the audit log', () => {
  type Entry = { action: string; objectId: string; actor: { id: string }; details: { endpoints?: string[] } };
  const entries = async () => (await bed.stack.get<{ items: Entry[] }>('GET', '/audit-log?limit=100')).items;
  const has = async (action: string, objectId: string | undefined) =>
    (await entries()).some((entry) => entry.action === action && entry.objectId === objectId);

  test('tells who viewed which payload, and which write keys, by hashes where the object is a person or an event', async () => {
    const viewed = (objectId: string | undefined) => until(() => has('payload.viewed', objectId));
    await viewed(bed.ids['letters']);
    await viewed(userHash(bed.workspaceId, USER));
    await viewed(userHash(bed.workspaceId, 'o2'));
    await viewed(bed.workspaceId);
    await until(() => has('write_key.viewed', bed.ids['sources']));
    assert.ok(!JSON.stringify(await entries()).includes(MARK));
  });

  test('tells of refused permissions', async () => {
    await read(bed.blind, 'DELETE', `/sources/${bed.ids['sources']}`);
    await until(() => has('permission.denied', bed.ids['sources']));
  });
});
