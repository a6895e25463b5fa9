import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Delivery } from '../../domain/delivery.ts';
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

  /** Parks a chain of twelve, of which five are a group, in a lane that has room for some groups. */
  async function parkLongChain(roomFor: number) {
    const written: string[] = [];
    using parker = openParker({
      async write(_, { payload }) {
        if (written.length === roomFor) return 'full';
        const group = JSON.parse(payload.toString()) as Delivery[];
        written.push(
          group.map(({ id, isMore, hasMore }) => `${isMore ? '<' : ''}${id}${hasMore ? '>' : ''}`).join(' '),
        );
        return 'stored';
      },
      tickets: { ensure: async () => 'made' },
      wanted: () => ({ dueAt: 0, hurry: false }),
    });
    const event = { ...EVENT, properties: { text: 'x'.repeat(100_000) } };
    const [first = assert.fail(), ...behind] = 'abcdefghijkl'.split('').map((id) => aDelivery({ id, event }));
    return { stored: await parker.park('dst_1', 0, first, behind), written };
  }

  test('cuts a long chain into groups, and marks where it goes on', async () => {
    const { stored, written } = await parkLongChain(9);
    assert.equal(stored, 12);
    assert.deepEqual(written, ['a b c d e>', '<f g h i j>', '<k l']);
  });

  test('tells how many of a long chain are stored when its later groups find no room', async () => {
    assert.deepEqual(await parkLongChain(1), { stored: 5, written: ['a b c d e>'] });
    assert.deepEqual(await parkLongChain(0), { stored: 0, written: [] });
  });
});
