import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Wanted } from '../../stream/deliveries/tickets.ts';
import { aDelivery } from '../../../testing/samples.ts';
import { openParker } from './park.ts';

suite('parking', () => {
  test('wants the look that is right when the group is stored, not when it was gathered', async () => {
    const paused: Wanted = { dueAt: 300_000, hurry: false };
    const resumed: Wanted = { dueAt: 0, hurry: true };
    let wanted = paused;
    const ensured: Wanted[] = [];
    using parker = openParker({
      // The destination is resumed while NATS stores the group: this process does not know yet that the lane is in use.
      write: async () => ((wanted = resumed), 'stored'),
      tickets: { ensure: async (_, look) => (ensured.push(look), 'made') },
      wanted: () => wanted,
    });
    assert.equal(await parker.park('dst_1', 0, aDelivery()), 'parked');
    assert.deepEqual(ensured, [resumed]);
  });

  test('asks for the soonest of a group: the fewest attempts, the first that is due', async () => {
    const asked: { dueAt: number; attempts: number }[] = [];
    using parker = openParker({
      write: async () => 'stored',
      tickets: { ensure: async () => 'made' },
      wanted: (_, { dueAt, attempts }) => (asked.push({ dueAt, attempts }), { dueAt, hurry: true }),
    });
    const tried = [aDelivery({ attempts: 2, dueAt: 5 }), aDelivery({ attempts: 3, dueAt: 4 })];
    await Promise.all(tried.map((delivery) => parker.park('dst_1', 1, delivery)));
    assert.deepEqual(asked, [{ dueAt: 4, attempts: 2 }]);
  });
});
