/** The schema of a source, through every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { SourceSchema } from '@millrace/contract/control';
import { addToken, addWorkspace } from '../testing/control.ts';
import { track } from '../testing/samples.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const opened = new AsyncDisposableStack();
let stack: Stack;
let scene: Scene;
before(async () => {
  stack = opened.use(await openStack());
  scene = await addScene(stack, 'http://127.0.0.1:1999/');
});
after(() => opened.disposeAsync());

const schema = (sourceId = scene.sourceId) => stack.get<SourceSchema>('GET', `/sources/${sourceId}/schema`);

suite('the schema of a source', () => {
  test('is empty before anything came, and complete', async () => {
    const { items, isComplete, lookedAt } = await schema();
    assert.deepEqual([items, isComplete, lookedAt], [[], true, { requests: 0, events: 0 }]);
  });

  test('has each name with its count, when it was seen, its properties, and whether it is blocked', async () => {
    await stack.get('POST', `/sources/${scene.sourceId}/events`, { name: 'Never Sent', blocked: true });
    await stack.get('POST', `/sources/${scene.sourceId}/events`, { name: 'Order', blocked: true });
    await stack.send(scene.writeKey, [
      track('Order', { messageId: '1', properties: { total: 12.5, cart: { items: 2 }, note: 'bad\u0000text' } }),
      track('Order', { messageId: '2', properties: { total: '13' } }),
      track('nul\u0000name', { messageId: '3', properties: {} }),
      { type: 'identify', messageId: '4', userId: 'u1', traits: { plan: 'pro' } },
    ]);
    await until(async () =>
      (await schema()).items.some(({ name, firstSeenAt }) => name === 'Order' && firstSeenAt !== null),
    );
    const { items, lookedAt, isComplete, itemsLeftOut } = await schema();
    assert.deepEqual([lookedAt, isComplete, itemsLeftOut], [{ requests: 1, events: 4 }, true, 0]);
    assert.deepEqual(
      new Set(items.map(({ type, name, count, blocked }) => `${type} ${name} ${count} ${blocked}`)),
      new Set([
        'track Order 2 true',
        'track nul\u0000name 1 false',
        'identify null 1 false',
        'track Never Sent 0 true',
      ]),
    );
    const order = items.find(({ name }) => name === 'Order');
    assert.ok(order?.lastSeenAt !== null && Date.now() - Date.parse(order?.lastSeenAt ?? '') < 60_000);
    assert.deepEqual(
      order?.properties.find(({ path }) => path === 'total'),
      {
        path: 'total',
        types: ['string', 'number'],
        count: 2,
        samples: ['13', 12.5],
      },
    );
    assert.ok(order?.properties.some(({ path }) => path === 'cart.items'));
  });

  test('is made of the latest thousand events, and says so', async () => {
    const own = await addScene(stack, 'http://127.0.0.1:1999/');
    for (const name of ['Old', 'New']) {
      const calls = Array.from({ length: 900 }, (_, index) => track(name, { messageId: `${name}-${index}` }));
      await stack.send(own.writeKey, calls);
    }
    const { items, lookedAt, isComplete } = await schema(own.sourceId);
    assert.deepEqual([lookedAt, isComplete], [{ requests: 2, events: 1_000 }, false]);
    assert.deepEqual(
      items.map(({ name, count }) => [name, count]),
      [
        ['New', 900],
        ['Old', 100],
      ],
    );
  });

  test('shows nothing of erased users, and nothing to another workspace', async () => {
    const own = await addScene(stack, 'http://127.0.0.1:1999/');
    await stack.send(own.writeKey, [
      track('Secret', { userId: 'erased', properties: { card: '4111' } }),
      track('Plain'),
    ]);
    assert.match(JSON.stringify(await schema(own.sourceId)), /4111/);
    await stack.get('POST', '/deletion-requests', { userIds: ['erased'] });
    const { items } = await schema(own.sourceId);
    assert.deepEqual(
      items.map(({ name }) => name),
      ['Plain'],
    );
    const store = stack.store();
    const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal((await fetch(`${stack.controlUrl()}/sources/${own.sourceId}/schema`, { headers })).status, 404);
  });
});
