/** The feed of a source: its stored events in order, over every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { FeedItems } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { addToken, addWorkspace } from '../testing/control.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { track, tracks } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

type Page = Static<typeof FeedItems>;

const NOWHERE = 'http://127.0.0.1:1999/';
const opened = new AsyncDisposableStack();
let stack: Stack;
let other: Scene;
before(async () => {
  stack = opened.use(await openStack({ MILLRACE_EVENT_STREAMS: '3' }));
  other = await addScene(stack, NOWHERE);
});
after(() => opened.disposeAsync());

const read = ({ sourceId }: Scene, query: string) => stack.get<Page>('GET', `/sources/${sourceId}/feed?${query}`);
const idsOf = ({ items }: Page) => items.map(({ event }) => event['messageId']);

/** Reads until the feed is at its end. */
async function readAll(
  scene: Scene,
  query: string,
  limit: number,
): Promise<{ ids: unknown[]; cursor: string; pages: Page[] }> {
  let page = await read(scene, `${query}&limit=${limit}`);
  const pages = [page];
  await until(async () => {
    if (page.isAtEnd) return true;
    page = await read(scene, `cursor=${page.cursor}&limit=${limit}`);
    pages.push(page);
    return page.isAtEnd;
  });
  return { ids: pages.flatMap(idsOf), cursor: page.cursor, pages };
}

const longAgo = `from=${new Date(Date.now() - 3_600_000).toISOString()}`;

suite('the feed of a source', () => {
  test('gives each event once, in the order of storage over all streams, in pages of any size', async () => {
    const own = await addScene(stack, NOWHERE);
    const begin = await read(own, '');
    assert.deepEqual([begin.items, begin.isAtEnd, begin.hasGap], [[], true, false], 'it begins with the next event');
    const expected: string[] = [];
    for (let request = 0; request < 40; request += 1) {
      const calls = Array.from({ length: 1 + (request % 7) }, (_, index) =>
        track('E', { messageId: `${request}-${index}` }),
      );
      assert.equal(await stack.send(own.writeKey, calls), 200);
      expected.push(...calls.map((_, index) => `${request}-${index}`));
      if (request % 4 === 0) await stack.send(other.writeKey, tracks(3, { messageId: undefined }));
    }
    for (const limit of [1, 3, 10, 500]) {
      const { ids, pages } = await readAll(own, `cursor=${begin.cursor}`, limit);
      assert.deepEqual(ids, expected, `by ${limit}`);
      assert.ok(pages.every((page) => page.items.length <= limit && !page.hasGap && Value.Check(FeedItems, page)));
    }
    const { ids, cursor } = await readAll(own, longAgo, 100);
    assert.deepEqual(ids, expected, 'from a time on');
    assert.deepEqual(idsOf(await read(own, `cursor=${cursor}`)), []);
    await stack.send(own.writeKey, [track('Last', { messageId: 'last' })]);
    assert.deepEqual((await readAll(own, `cursor=${cursor}`, 100)).ids, ['last'], 'and goes on from there');
  });

  test('goes on from its cursor after a restart', async () => {
    const own = await addScene(stack, NOWHERE);
    const { cursor } = await read(own, '');
    await stack.send(own.writeKey, [track('A', { messageId: 'before' })]);
    await stack.restart();
    await until(async () => (await stack.send(own.writeKey, [track('A', { messageId: 'after' })])) === 200);
    assert.deepEqual((await readAll(own, `cursor=${cursor}`, 1)).ids, ['before', 'after']);
  });

  test('tells when events were removed before they were read', async () => {
    const own = await addScene(stack, NOWHERE);
    const { cursor } = await read(own, '');
    // Enough requests that each stream has some of them.
    for (let sent = 0; sent < 30; sent += 1) await stack.send(own.writeKey, tracks(1, { messageId: undefined }));
    for (const stream of [0, 1, 2]) await stack.manager.streams.purge(`EVENTS-${stream}`);
    await stack.send(own.writeKey, [track('A', { messageId: 'kept' })]);
    const { ids, pages } = await readAll(own, `cursor=${cursor}`, 100);
    assert.deepEqual(ids, ['kept']);
    assert.equal(pages[0]?.hasGap, true);
    const later = await readAll(own, `cursor=${pages.at(-1)?.cursor}`, 100);
    assert.deepEqual([later.ids, later.pages[0]?.hasGap], [[], false]);
  });

  test('leaves out the events of erased users', async () => {
    const own = await addScene(stack, NOWHERE);
    const { cursor } = await read(own, '');
    await stack.send(own.writeKey, [track('A', { userId: 'erased' }), track('B', { userId: 'kept' })]);
    await stack.get('POST', '/deletion-requests', { userIds: ['erased'] });
    assert.deepEqual((await readAll(own, `cursor=${cursor}`, 100)).ids, ['m-B']);
  });

  test('is closed to other workspaces, and refuses a cursor that it did not make', async () => {
    const stranger = await addToken(stack.store(), await addWorkspace(stack.store()), { role: 'owner' });
    const url = `${stack.controlUrl()}/sources/${other.sourceId}/feed`;
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${stranger}` } });
    assert.equal(answer.status, 404);
    for (const text of ['', 'x', '1', '1 2', '-1 0 1', '1 0 1e9', `0 0 ${'1 '.repeat(90)}`]) {
      const cursor = Buffer.from(text).toString('base64url') || 'x';
      assert.equal((await stack.ask('GET', `/sources/${other.sourceId}/feed?cursor=${cursor}`)).status, 400, text);
    }
  });
});
