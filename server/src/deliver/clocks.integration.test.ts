import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shiftClock } from '../../testing/shift-clock.ts';
import { LEASE_MS } from '../stream/deliveries/tickets.ts';
import { encodeDeliveries, newDelivery } from '../domain/delivery.ts';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { EVENT, track } from '../../testing/samples.ts';
import { until } from '../../testing/until.ts';

const DAY_MS = 86_400_000;
/** A stall of the machine may add this to a time that is compared. */
const NOISE_MS = 5_000;

const eventOf = ({ body }: Received) => (JSON.parse(body) as { event: string }).event;

/** A message as the engine has it, with the engine's own stamp. */
async function scheduled({ manager }: Bed, destinationId: string) {
  const found = await manager.streams.getMessage('TICKETS', { last_by_subj: `tickets.at.${destinationId}` });
  if (found === null) throw new Error('no ticket');
  const dueAt = Date.parse((found.header.get('Nats-Schedule') ?? '').replace('@at ', ''));
  return { dueAt, storedAt: found.time.getTime() };
}

suite('a deliver host whose clock is wrong', () => {
  for (const shiftMs of [-30_000, DAY_MS]) {
    test(`by ${shiftMs} ms leases a ticket for as long as any other host`, async () => {
      await using bed = await openBed();
      using _ = shiftClock(0);
      await using side = await bed.stream.deliverySide();
      _.set(shiftMs);
      await side.tickets.ensure('dst_x', { dueAt: side.now(), hurry: true });
      const holder = Promise.withResolvers<{ end(): Promise<void> }>();
      await using pulling = side.pullTickets({ room: () => 1, held: holder.resolve });
      const ticket = await holder.promise;
      const { dueAt, storedAt } = await scheduled(bed, 'dst_x');
      assert.ok(dueAt > storedAt, 'the lease is not over when it begins');
      assert.ok(Math.abs(dueAt - storedAt - LEASE_MS) < NOISE_MS, `it lasts ${dueAt - storedAt} ms`);
      assert.ok(pulling);
      await ticket.end();
    });

    test(`by ${shiftMs} ms tries again after the delay of the schedule, and signs with the right time`, async () => {
      await using bed = await openBed();
      using clock = shiftClock(0);
      let answers = 0;
      await using receiver = await openReceiver((one, response) => {
        answers += 1;
        answer(answers <= 2 ? 500 : 200)(one, response);
      });
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }], sharedSecret: 'x'.repeat(32) } });
      await using deliver = await bed.deliver({ retryScale: 5 });
      clock.set(shiftMs);
      await bed.append(track('again'));
      await until(() => receiver.received.length === 3);
      const [first, second, third] = receiver.received.map(({ at }) => at);
      assert.ok((second ?? 0) - (first ?? 0) >= 990, 'not before a second');
      assert.ok((third ?? 0) - (second ?? 0) >= 2_990, 'nor before three');
      for (const { headers } of receiver.received) {
        const signedAt = Number(headers['webhook-timestamp']) * 1_000 + shiftMs;
        assert.ok(Math.abs(Date.now() - signedAt) < 30_000, 'by the engine’s clock');
      }
      assert.ok(deliver.stats());
    });
  }

  test('by a day ahead holds up nothing behind what it parked, and gives up nothing too late', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    // One attempt at a time, so that arrivals have the order of the lane.
    await bed.putDestination({ id: 'dst_A', settings: { targets: [{ url: receiver.url }], maxConcurrency: 1 } });
    await using side = await bed.stream.deliverySide();
    const park = (name: string, at: number) => {
      const delivery = newDelivery(`dlv_${name}`, { ...EVENT, event: name, messageId: name }, at);
      const payload = encodeDeliveries([JSON.stringify({ ...delivery, firstAttemptAt: at })]);
      return side.lanes.append({ destinationId: 'dst_A', tier: 0 }, payload);
    };
    assert.equal(await park('future', side.now() + DAY_MS), 'stored');
    for (const name of ['one', 'two', 'three']) assert.equal(await park(name, side.now()), 'stored');
    await side.tickets.ensure('dst_A', { dueAt: side.now(), hurry: true });
    await using deliver = await bed.deliver();
    await until(() => receiver.received.length >= 4);
    assert.deepEqual(receiver.received.map(eventOf), ['future', 'one', 'two', 'three']);
    assert.ok(deliver.stats());
  });
});
