import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openTicketBed, withoutAck } from '../../../testing/ticket-bed.ts';
import { until } from '../../../testing/until.ts';
import { LEASE_MS } from './tickets.ts';

suite('a ticket, over a slow network,', { concurrency: 1 }, () => {
  let bed: Awaited<ReturnType<typeof openTicketBed>>;
  before(async () => void (bed = await openTicketBed()));
  after(() => bed[Symbol.asyncDispose]());

  test('that is renewed in the last moment of its lease counts as lost: firing, it takes the renewal away', async () => {
    await bed.tickets.ensure('renewed-late', { dueAt: Date.now(), hurry: false });
    const ticket = (await bed.slow.tickets.hold(await bed.next('renewed-late'))) ?? assert.fail();
    const overAt = performance.now() + LEASE_MS;
    bed.slow.delay.untilMs = overAt - 700;
    await until(() => performance.now() > overAt);
    assert.equal(ticket.isLost(), true);
  });

  test('that is taken in the last moment before it fires is not had', async () => {
    await bed.tickets.ensure('taken-late', { dueAt: Date.now(), hurry: false });
    const stale = await bed.next('taken-late');
    const ticket = (await bed.tickets.hold(withoutAck(stale))) ?? assert.fail();
    const inMs = 2_000;
    bed.slow.delay.untilMs = performance.now() + inMs - 300;
    assert.equal(await ticket.giveBack({ dueAt: Date.now() + inMs, note: '' }), true);
    assert.equal(await bed.slow.tickets.hold(stale), undefined);
  });
});
