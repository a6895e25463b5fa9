import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openReceiver } from '../testing/receiver.ts';
import { shiftClock } from '../testing/shift-clock.ts';
import { addScene, openStack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

const DAY_MS = 86_400_000;
/** A busy machine may add this. */
const NOISE_MS = 60_000;

suite('a host whose clock is wrong', () => {
  test('dates calls and attempts by the engine’s clock', async () => {
    await using receiver = await openReceiver();
    await using stack = await openStack();
    using clock = shiftClock(0);
    for (const shiftMs of [DAY_MS, -DAY_MS]) {
      clock.set(shiftMs);
      const isNow = (time: unknown) => Math.abs(Date.parse(String(time)) + shiftMs - Date.now()) < NOISE_MS;
      const { writeKey, destinationId } = await addScene(stack, receiver.url);
      const name = `shifted by ${shiftMs}`;
      assert.equal(await stack.send(writeKey, [track(name)]), 200);
      const bodies = () => receiver.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
      await until(() => bodies().some(({ event }) => event === name));
      assert.ok(isNow(bodies().find(({ event }) => event === name)?.['timestamp']), 'a call without a time of its own');
      type Delivery = { lastAttemptAt: string; receivedAt: string };
      const path = `/deliveries?destinationId=${destinationId}`;
      let delivery: Delivery | undefined;
      await until(async () => {
        const { items } = await stack.get<{ items: Delivery[] }>('GET', path);
        return (delivery = items[0]) !== undefined;
      });
      assert.ok(isNow(delivery?.receivedAt) && isNow(delivery?.lastAttemptAt), JSON.stringify(delivery));
    }
  });
});
