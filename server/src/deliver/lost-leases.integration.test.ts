import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed } from '../../testing/deliver-bed.ts';
import { ticketAtSubject } from '../stream/layout/layout.ts';
import type { DeliverySide } from '../stream/open-delivery-side.ts';
import { type HeldTicket, LEASE_MS } from '../stream/deliveries/tickets.ts';
import { until } from '../../testing/until.ts';

const FAR_MS = 3_600_000;

/** The next due ticket, held by this process. */
async function hold(side: DeliverySide): Promise<HeldTicket> {
  const holder = Promise.withResolvers<HeldTicket>();
  let room = 1;
  const held = (ticket: HeldTicket) => {
    room = 0;
    holder.resolve(ticket);
  };
  await using pulling = side.pullTickets({ room: () => room, held });
  assert.ok(pulling);
  return await holder.promise;
}

suite('a lease', () => {
  test('is renewed before it ends, so that the ticket falls due to no other process', async () => {
    await using bed = await openBed();
    await using side = await bed.stream.deliverySide();
    await side.tickets.ensure('kept', { dueAt: side.now(), hurry: false });
    const ticket = await hold(side);
    const scheduled = () =>
      bed.manager.streams.getMessage('TICKETS', { last_by_subj: ticketAtSubject('kept') }).catch(() => null);
    const first = await scheduled();
    await until(async () => (await scheduled())?.seq !== first?.seq, 3 * LEASE_MS);
    assert.equal((await scheduled())?.json<{ held: boolean }>().held, true);
    assert.equal(ticket.isLost(), false);
    await ticket.giveBack({ dueAt: side.now() + FAR_MS, note: '' });
  });

  test('that went to another holder is lost with the next renewal, and the other one stays the holder', async () => {
    await using bed = await openBed();
    await using one = await bed.stream.deliverySide();
    await using other = await bed.stream.deliverySide();
    await one.tickets.ensure('parted', { dueAt: one.now(), hurry: false });
    const first = await hold(one);
    assert.equal(first.isLost(), false);
    await until(async () => !(await bed.tickets()).includes('tickets.due.parted'));
    // The end of the lease, without the wait for it.
    await bed.manager.streams.purge('TICKETS', { filter: ticketAtSubject('parted') });
    await other.tickets.ensure('parted', { dueAt: other.now(), hurry: false });
    const second = await hold(other);
    await until(() => first.isLost(), 3 * LEASE_MS);
    assert.equal(await first.giveBack({ dueAt: one.now(), note: 'by the first' }), false);
    assert.equal(await second.giveBack({ dueAt: other.now() + FAR_MS, note: 'by the second' }), true);
  });

  test('that is being taken while its process stops has its holder by the end of the stop', async () => {
    await using bed = await openBed();
    await using side = await bed.stream.deliverySide();
    const lanes = Array.from({ length: 20 }, (_, index) => `stopped${index}`);
    for (const lane of lanes) await side.tickets.ensure(lane, { dueAt: side.now(), hurry: false });
    const due = async () => (await bed.tickets()).filter((subject) => subject.startsWith('tickets.due.')).length;
    await until(async () => (await due()) === lanes.length);
    const held: HeldTicket[] = [];
    const taken = Promise.withResolvers<void>();
    let asks = 0;
    const room = (isUrgent: boolean) => {
      if (isUrgent) return 0;
      asks += 1;
      // Asked again: all that there was room for has come.
      if (asks > 1) taken.resolve();
      return asks > 1 ? 0 : lanes.length;
    };
    const pulling = side.pullTickets({ room, held: (ticket) => void held.push(ticket) });
    await taken.promise;
    await pulling[Symbol.asyncDispose]();
    assert.equal(held.length, lanes.length);
    for (const ticket of held) assert.equal(await ticket.giveBack({ dueAt: side.now() + FAR_MS, note: '' }), true);
  });

  test('is over by the holder’s own clock when the engine cannot be reached', async () => {
    await using bed = await openBed();
    await using side = await bed.stream.deliverySide();
    await side.tickets.ensure('cut-off', { dueAt: side.now(), hurry: false });
    const ticket = await hold(side);
    const [node] = bed.cluster.nodes;
    await node?.kill('SIGSTOP');
    try {
      await until(() => ticket.isLost(), 4 * LEASE_MS);
    } finally {
      await node?.kill('SIGCONT');
    }
    await ticket.giveBack({ dueAt: side.now() + FAR_MS, note: '' });
  });
});
