/** The search through stored events, over every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { StoredEventItems } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { addToken, addWorkspace } from '../testing/control.ts';
import { addScene, ended, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track, tracks } from '../testing/samples.ts';

type Found = Static<typeof StoredEventItems>;

const NOWHERE = 'http://127.0.0.1:1999/';
const opened = new AsyncDisposableStack();
let stack: Stack;
let scene: Scene;
before(async () => {
  stack = opened.use(await openStack());
  scene = await addScene(stack, NOWHERE);
});
after(() => opened.disposeAsync());

const search = (query: string, sourceId = scene.sourceId) =>
  stack.get<Found>('GET', `/stored-events?sourceId=${sourceId}&${query}`);
const idsOf = ({ items }: Found) => items.map(({ event }) => event['messageId']);

/** Every page of a search. */
async function searchAll(query: string, sourceId = scene.sourceId): Promise<{ pages: Found[]; ids: unknown[] }> {
  const pages = [await search(query, sourceId)];
  for (let cursor = pages[0]?.nextCursor ?? null; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null) {
    pages.push(await search(`${query}&cursor=${cursor}`, sourceId));
    assert.ok(pages.length < 500, 'it comes to an end');
  }
  return { pages, ids: pages.flatMap(idsOf) };
}

suite('stored events', () => {
  test('are found by user, name, type, time and text', async () => {
    const own = await addScene(stack, NOWHERE);
    const calls = [
      track('Signed Up', { userId: 'ann' }),
      track('Order "7"\nDone', { userId: 'bob', properties: { note: 'Grüße from LONDON' } }),
      { type: 'page', messageId: 'm-page', userId: 'ann', name: 'Home' },
      { type: 'identify', messageId: 'm-identify', userId: 'ann', traits: { plan: 'pro' } },
    ];
    for (const call of calls) await stack.send(own.writeKey, [call]);
    const ids = async (query: string) => idsOf(await search(query, own.sourceId));
    assert.deepEqual(await ids(''), ['m-identify', 'm-page', 'm-Order "7"\nDone', 'm-Signed Up'], 'newest first');
    assert.deepEqual(await ids('userId=ann'), ['m-identify', 'm-page', 'm-Signed Up']);
    assert.deepEqual([await ids('name=Home'), await ids('name=Signed%20Up')], [['m-page'], ['m-Signed Up']]);
    assert.deepEqual(await ids('type=identify'), ['m-identify']);
    assert.deepEqual(await ids('text=london'), ['m-Order "7"\nDone']);
    assert.deepEqual(await ids(`text=${encodeURIComponent('grüße FROM')}`), ['m-Order "7"\nDone']);
    assert.deepEqual(await ids(`text=${encodeURIComponent('"7"\nd')}`), ['m-Order "7"\nDone']);
    assert.deepEqual(await ids('userId=ann&text=pro&type=identify'), ['m-identify']);
    const { items } = await search('', own.sourceId);
    const received = String(items[2]?.event['receivedAt']);
    assert.deepEqual(await ids(`from=${received}&to=${new Date(Date.parse(received) + 1).toISOString()}`), [
      'm-Order "7"\nDone',
    ]);
    assert.deepEqual(await ids('to=2020-01-01T00:00:00Z'), []);
    const later = await search('from=2099-01-01T00:00:00Z', own.sourceId);
    assert.deepEqual([later.items, later.isComplete, later.nextCursor], [[], true, null]);
    assert.equal(JSON.stringify(items).includes(own.writeKey), false);
  });

  test('come in pages, each event once and newest first, also from the middle of a request and among other sources', async () => {
    const own = await addScene(stack, NOWHERE);
    const expected: string[] = [];
    for (let request = 0; request < 30; request += 1) {
      const calls = Array.from({ length: 7 }, (_, index) => track('E', { messageId: `${request}-${index}` }));
      await stack.send(own.writeKey, calls);
      expected.push(...calls.map((_, index) => `${request}-${index}`));
      if (request % 3 === 0) await stack.send(scene.writeKey, tracks(5, { messageId: undefined }));
    }
    for (const limit of [1, 9, 100]) {
      const { pages, ids } = await searchAll(`limit=${limit}`, own.sourceId);
      assert.deepEqual(ids, expected.toReversed(), `by ${limit}`);
      assert.ok(pages.every(({ items }) => items.length <= limit));
      const last = pages.at(-1);
      assert.deepEqual([last?.isComplete, last?.nextCursor], [true, null]);
      assert.ok(pages.every((page, index) => page.from <= (pages[index - 1]?.from ?? '9') && page.from <= page.to));
      assert.equal(
        pages.slice(0, -1).some(({ isComplete }) => isComplete),
        false,
      );
    }
  });

  test('are searched no further than one request may, which says how far it came', async (t) => {
    const own = await addScene(stack, NOWHERE);
    await stack.send(own.writeKey, [track('Needle')]);
    const call = (sent: number) => track('Hay', { messageId: `hay-${sent}` });
    for (let sent = 0; sent < 2_600; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => stack.send(own.writeKey, [call(sent + index)])));
    }
    // Another source was the last to send much: the search has to look for where this one begins, and then not too far.
    for (let sent = 0; sent < 700; sent += 50) {
      const calls = Array.from({ length: 50 }, (_, index) => track('Other', { messageId: `other-${sent + index}` }));
      await Promise.all(calls.map((one) => stack.send(scene.writeKey, [one])));
    }
    const startedAt = performance.now();
    const first = await search('name=Needle', own.sourceId);
    t.diagnostic(`looked at ${first.lookedAt.requests} requests in ${Math.round(performance.now() - startedAt)} ms`);
    assert.deepEqual([first.items, first.isComplete], [[], false]);
    assert.ok(first.lookedAt.requests > 0 && first.lookedAt.requests <= 2_400, String(first.lookedAt.requests));
    const { pages, ids } = await searchAll('name=Needle', own.sourceId);
    assert.deepEqual(ids, ['m-Needle']);
    assert.equal(
      pages.reduce((sum, { lookedAt }) => sum + lookedAt.requests, 0),
      2_601,
      'each once',
    );
  });

  test('of erased users are not shown', async () => {
    const own = await addScene(stack, NOWHERE);
    await stack.send(own.writeKey, [track('A', { userId: 'erased' }), track('B', { userId: 'kept' })]);
    await stack.send(own.writeKey, [{ type: 'alias', messageId: 'm-alias', userId: 'new', previousId: 'erased' }]);
    assert.deepEqual(idsOf(await search('', own.sourceId)), ['m-alias', 'm-B', 'm-A']);
    const { id } = await stack.get<{ id: string }>('POST', '/deletion-requests', { userIds: ['erased'] });
    // The tombstone counts from the answer on, before the job has gone through the stores.
    assert.deepEqual(idsOf(await search('', own.sourceId)), ['m-B']);
    assert.deepEqual(idsOf(await search('userId=erased', own.sourceId)), []);
    await ended(stack, `/deletion-requests/${id}`, 60_000);
    assert.deepEqual(idsOf(await search('', own.sourceId)), ['m-B']);
  });

  test('of erased and suppressed users answer a search as events that do not match', async () => {
    const own = await addScene(stack, NOWHERE);
    for (const messageId of ['old-1', 'old-2', 'old-3'])
      await stack.send(own.writeKey, [track('Plain', { messageId })]);
    const card = { properties: { card: '4111-secret' } };
    await stack.get('POST', '/deletion-requests', { userIds: ['silent'], sources: [own.sourceId], suppress: true });
    await stack.append(own.sourceId, { ...track('S', { ...card, userId: 'silent' }), messageId: 'm-silent' });
    await stack.send(own.writeKey, [track('A', { ...card, userId: 'guessed' }), track('B', { messageId: 'new-1' })]);
    const to = new Date(Date.now() + 60_000).toISOString();
    const guess = (text: string, rest = '') =>
      search(`limit=1&to=${to}&text=${text}${rest}`, own.sourceId).then(({ nextCursor, ...page }) => ({
        ...page,
        isLast: nextCursor === null,
      }));
    assert.equal((await guess('4111-s')).items.length, 1);
    await stack.get('POST', '/deletion-requests', { userIds: ['guessed'] });
    assert.deepEqual(await guess('4111-s'), await guess('4111-x'), 'a right guess tells nothing');
    assert.deepEqual(await guess('4111-s', '&userId=guessed'), await guess('4111-s', '&userId=nobody'));
    const { ids, pages } = await searchAll('limit=2', own.sourceId);
    assert.deepEqual(
      [ids, pages[0]?.items.length],
      [['new-1', 'old-3', 'old-2', 'old-1'], 2],
      'nor do they fill a page',
    );
  });

  test('of another workspace are not found, and a cursor that nobody gave is refused', async () => {
    const store = stack.store();
    const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
    const url = `${stack.controlUrl()}/stored-events?sourceId=${scene.sourceId}`;
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(answer.status, 404);
    const cursors = ['1 2', 'a b c d', '0 0 9999999999999999 1', '0 0 99999999999999999999 1'];
    for (const text of cursors) {
      const cursor = Buffer.from(text).toString('base64url');
      const { status, body } = await stack.ask('GET', `/stored-events?sourceId=${scene.sourceId}&cursor=${cursor}`);
      assert.deepEqual([status, body['code']], [400, 'invalid_cursor'], text);
    }
    assert.equal((await stack.ask('GET', '/stored-events')).status, 400);
  });
});
