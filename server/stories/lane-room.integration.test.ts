/** The API tells how much room the lane of a destination has. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DestinationHealth } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Stack } from '../testing/stack.ts';
import { tracks } from '../testing/samples.ts';
import { until } from '../testing/until.ts';

const MINUTE = 60_000;

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

suite('the lane of a destination', () => {
  test('tells its size, the most that it may hold, and the free part of that', { timeout: 3 * MINUTE }, async () => {
    await using receiver = await openReceiver(answer(503));
    const scene = await addScene(stack, receiver.url);
    const laneOf = async () => {
      const health = await stack.get<DestinationHealth>('GET', `/destinations/${scene.destinationId}/health`);
      assert.deepEqual([...Value.Errors(DestinationHealth, health)], []);
      return health.lane;
    };
    assert.equal(await laneOf(), null);
    await stack.send(scene.writeKey, tracks(200));
    await until(async () => ((await laneOf())?.bytes ?? 0) > 10_000 && (await laneOf())?.limitBytes !== null, MINUTE);
    const lane = await laneOf();
    assert.ok(lane !== null && lane.limitBytes !== null);
    assert.ok(lane.limitBytes > lane.bytes);
    assert.equal(lane.room, 1 - lane.bytes / lane.limitBytes);
  });
});
