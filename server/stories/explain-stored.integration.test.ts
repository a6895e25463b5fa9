/** `explain` tells how an event was stored. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Explanation } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Stack } from '../testing/stack.ts';
import { track } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

const MINUTE = 60_000;

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

const explain = (messageId: string) => stack.get<Explanation>('GET', `/events/${messageId}/explain`);

suite('the explanation of a stored event', () => {
  test('has the time it took to store it and its place in its request, while it is stored', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    for (let i = 0; i < 50; i += 1) await stack.send(scene.writeKey, [track(`before ${i}`)]);
    const calls = ['a', 'b', 'c'].map((name) => ({ ...track(name), messageId: `message-${name}` }));
    await stack.send(scene.writeKey, calls);
    await until(async () => (await explain('message-b')).verdict === 'accepted', MINUTE);
    const explanation = await explain('message-b');
    assert.deepEqual([...Value.Errors(Explanation, explanation)], []);
    const { stored, destinations } = explanation;
    assert.ok(stored !== null);
    assert.deepEqual([stored.request.place, stored.request.events], [2, 3]);
    assert.ok(stored.request.bytes > 100 && stored.request.bytes < 5_000, String(stored.request.bytes));
    const receivedAt = Date.parse(destinations[0]?.receivedAt ?? '');
    assert.equal(stored.storeMs, Date.parse(stored.storedAt) - receivedAt);
    assert.ok(Math.abs(stored.storeMs) < MINUTE);
    const { manager } = stack;
    for await (const { config } of manager.streams.list('events.>')) await manager.streams.purge(config.name);
    assert.equal((await explain('message-b')).stored, null);
  });

  test('comes without these facts while NATS does not answer', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, [{ ...track('late'), messageId: 'message-late' }]);
    await until(async () => (await explain('message-late')).verdict === 'accepted', MINUTE);
    const [node] = stack.nats.nodes;
    await node?.kill('SIGSTOP');
    try {
      const { verdict, stored } = await explain('message-late');
      assert.deepEqual([verdict, stored], ['accepted', null]);
    } finally {
      await node?.kill('SIGCONT');
    }
  });

  test('of an event that never was has none', async () => {
    assert.equal((await explain('message-none')).stored, null);
  });
});
