import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Wanted } from '../../stream/deliveries/tickets.ts';
import { aDelivery, EVENT } from '../../../testing/samples.ts';
import { openParker } from './park.ts';

suite('parking', () => {
  /** The wanted look changes while NATS stores the group: this process does not know yet that the lane is in use. */
  async function ensuredWhen(before: Wanted & { isBySettings?: boolean }, after: Wanted): Promise<Wanted | undefined> {
    let wanted: Wanted = before;
    let ensured: Wanted | undefined;
    using parker = openParker({
      write: async () => ((wanted = after), 'stored'),
      tickets: { ensure: async (_, look) => ((ensured = look), 'made') },
      wanted: () => wanted,
    });
    assert.equal(await parker.park('dst_1', 0, aDelivery()), 1);
    return ensured;
  }

  test('wants a look at once for a destination that is resumed while NATS stores the group', async () => {
    const resumed = { dueAt: 0, hurry: true };
    assert.equal(await ensuredWhen({ dueAt: 300_000, hurry: false, isBySettings: true }, resumed), resumed);
  });

  test('keeps the turn at a busy host that a delivery had when it came back', async () => {
    const ensured = await ensuredWhen({ dueAt: 5_000, hurry: false }, { dueAt: 0, hurry: true });
    assert.deepEqual([ensured?.dueAt, ensured?.hurry], [5_000, false]);
  });

  test('wants the soonest look of those that its deliveries want', async () => {
    let ensured: Wanted | undefined;
    using parker = openParker({
      write: async () => 'stored',
      tickets: { ensure: async (_, look) => ((ensured = look), 'made') },
      wanted: (_, { dueAt }) => ({ dueAt, hurry: dueAt === 5 }),
    });
    const tried = [aDelivery({ attempts: 2, dueAt: 5 }), aDelivery({ attempts: 3, dueAt: 4 })];
    await Promise.all(tried.map((delivery) => parker.park('dst_1', 1, delivery)));
    assert.deepEqual([ensured?.dueAt, ensured?.hurry], [4, true]);
  });

  test('tells how many of a long chain are stored when its later groups find no room', async () => {
    const written: number[] = [];
    using parker = openParker({
      write: async (_, payload) => (written.push(payload.length), written.length > 2 ? 'full' : 'stored'),
      tickets: { ensure: async () => 'made' },
      wanted: () => ({ dueAt: 0, hurry: false }),
    });
    const event = { ...EVENT, properties: { text: 'x'.repeat(100_000) } };
    const [first, ...behind] = Array.from({ length: 12 }, (_, nth) => aDelivery({ id: `d${nth}`, event }));
    const stored = await parker.park('dst_1', 0, first ?? assert.fail(), behind);
    assert.equal(written.length, 3);
    assert.equal(stored, 6, 'three in each of the first two groups');
    assert.equal(await parker.park('dst_1', 0, first ?? assert.fail()), 0);
  });
});
