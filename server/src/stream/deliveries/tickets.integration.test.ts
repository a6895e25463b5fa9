import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openTicketBed, withoutAck } from '../../../testing/ticket-bed.ts';
import { ticketAtSubject } from '../layout/layout.ts';
import { LEASE_MS } from './tickets.ts';

const FAR_MS = 3_600_000;
/** For tests that wait for a redelivery of an unacknowledged ticket. */
const SHORT_ACK_WAIT_MS = 1_000;

suite('tickets', { concurrency: true }, () => {
  suite('a ticket', { concurrency: true }, () => {
    let bed: Awaited<ReturnType<typeof openTicketBed>>;
    before(async () => void (bed = await openTicketBed()));
    after(() => bed[Symbol.asyncDispose]());

    test('is made once, however often it is asked for', async () => {
      const wanted = { dueAt: Date.now() + FAR_MS, hurry: false };
      const asked = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? bed : bed.other).tickets.ensure('once', wanted),
      );
      const answers = await Promise.all(asked);
      assert.equal(answers.filter((each) => each === 'made').length, 1);
      assert.equal(answers.filter((each) => each === 'there').length, 19);
      assert.ok((await bed.tickets.list()).has('once'));
    });

    test('stays as it is for who is in no hurry, and moves to an earlier time for who is', async () => {
      const dueAt = Date.now() + FAR_MS;
      await bed.tickets.ensure('hurried', { dueAt, hurry: false });
      assert.equal(await bed.tickets.ensure('hurried', { dueAt: dueAt - 60_000, hurry: false }), 'there');
      assert.equal((await bed.scheduled('hurried'))?.dueAt, dueAt);
      assert.equal(await bed.tickets.ensure('hurried', { dueAt: dueAt - 60_000, hurry: true }), 'there');
      assert.equal((await bed.scheduled('hurried'))?.dueAt, dueAt - 60_000);
      assert.equal(await bed.tickets.ensure('hurried', { dueAt, hurry: true }), 'there');
      assert.equal((await bed.scheduled('hurried'))?.dueAt, dueAt - 60_000, 'never to a later one');
      assert.equal(await bed.tickets.ensure('hurried', { dueAt: dueAt - 60_500, hurry: true }), 'there');
      assert.equal((await bed.scheduled('hurried'))?.dueAt, dueAt - 60_000, 'nor by less than a second');
    });

    test('that is moved earlier keeps what its last holder wrote down', async () => {
      const ticket = await bed.held('noted');
      assert.equal(await ticket.giveBack({ dueAt: Date.now() + FAR_MS, note: 'a note' }), true);
      await bed.tickets.ensure('noted', { dueAt: Date.now(), hurry: true });
      const again = await bed.tickets.hold(await bed.next('noted'));
      assert.equal(again?.note, 'a note');
    });

    test('that becomes urgent changes its line, never its time to a later one, and does not change back', async () => {
      const dueAt = Date.now() + FAR_MS;
      const ensure = (wanted: { dueAt: number; hurry: boolean; isUrgent: boolean }) =>
        bed.tickets.ensure('urgent', wanted);
      const placed = async () => {
        const found = (await bed.scheduled('urgent')) ?? assert.fail();
        return [found.line, found.dueAt - dueAt];
      };
      await ensure({ dueAt, hurry: false, isUrgent: false });
      assert.equal(await ensure({ dueAt, hurry: false, isUrgent: true }), 'there');
      assert.deepEqual(await placed(), ['due', 0], 'without hurry it stays');
      assert.equal(await ensure({ dueAt: dueAt + 60_000, hurry: true, isUrgent: true }), 'there');
      assert.deepEqual(await placed(), ['urgent', 0]);
      assert.equal(await ensure({ dueAt: dueAt - 60_000, hurry: true, isUrgent: false }), 'there');
      assert.deepEqual(await placed(), ['urgent', -60_000]);
    });

    test('that is urgent is had in its own line, also by the next holder when this one dies', async () => {
      const ticket = await bed.held('line', true);
      assert.equal((await bed.scheduled('line'))?.line, 'urgent', 'the lease');
      assert.equal(await ticket.giveBack({ dueAt: Date.now(), note: '', isUrgent: true }), true);
      const again = await bed.next('line');
      assert.equal(again.subject, 'tickets.urgent.line');
      const next = (await bed.tickets.hold(again)) ?? assert.fail();
      assert.equal(await next.giveBack({ dueAt: Date.now() + FAR_MS, note: '' }), true);
      assert.equal((await bed.scheduled('line'))?.line, 'due', 'in trouble again');
    });

    test('that is urgent does not wait for one of the same lane that is due in the other line', async () => {
      await bed.tickets.ensure('both', { dueAt: Date.now(), hurry: false });
      const ordinary = await bed.next('both');
      assert.equal(await bed.tickets.ensure('both', { dueAt: Date.now(), hurry: true, isUrgent: true }), 'there');
      const urgent = await bed.next('both');
      assert.equal(urgent.subject, 'tickets.urgent.both');
      assert.equal((await bed.tickets.hold(urgent))?.destinationId, 'both');
      assert.equal(await bed.other.tickets.hold(ordinary), undefined, 'one holder');
    });

    test('that is held stays held, whatever others ask for, and is scheduled for the end of its lease', async () => {
      const before = Date.now();
      const ticket = await bed.held('held');
      assert.equal(ticket.destinationId, 'held');
      assert.equal(ticket.note, '', 'a new lane');
      assert.equal(await bed.other.tickets.ensure('held', { dueAt: Date.now(), hurry: true }), 'held');
      assert.equal(await bed.other.tickets.ensure('held', { dueAt: Date.now(), hurry: false }), 'there');
      const { dueAt = 0, held } = (await bed.scheduled('held')) ?? {};
      assert.equal(held, true);
      assert.ok(dueAt >= before + LEASE_MS && dueAt <= Date.now() + LEASE_MS);
    });

    test('that is given back falls due again at that time, with its note', async () => {
      const ticket = await bed.held('back');
      const dueAt = Date.now() + 5_000;
      assert.equal(await ticket.giveBack({ dueAt, note: 'go on at 7' }), true);
      assert.deepEqual(await bed.scheduled('back'), { dueAt, line: 'due', held: false, note: 'go on at 7' });
      const again = await bed.tickets.hold(await bed.next('back'));
      assert.ok(Date.now() >= dueAt);
      assert.equal(again?.note, 'go on at 7');
    });

    test('that is ended is gone, and ending it again does no harm; the next one is made anew', async () => {
      const ticket = await bed.held('ended');
      await ticket.end();
      await ticket.end();
      assert.equal(await bed.scheduled('ended'), undefined);
      assert.ok(!(await bed.tickets.list()).has('ended'));
      assert.equal(await bed.tickets.ensure('ended', { dueAt: Date.now() + FAR_MS, hurry: true }), 'made');
    });

    test('whose lease went to another holder cannot be given back or ended by the first', async () => {
      const first = await bed.held('lost');
      assert.equal(first.isLost(), false);
      // Its acknowledgement takes effect a little later, and until then the due message counts as a ticket.
      await bed.acknowledged('lost');
      // The end of the lease, without the wait for it: the schedule fires now.
      await bed.manager.streams.purge('TICKETS', { filter: ticketAtSubject('lost') });
      const second = await bed.other.tickets.ensure('lost', { dueAt: Date.now(), hurry: false });
      assert.equal(second, 'made');
      const holder = (await bed.other.tickets.hold(await bed.next('lost'))) ?? assert.fail();
      assert.equal(await first.giveBack({ dueAt: Date.now(), note: 'from the first' }), false);
      await first.end();
      assert.equal((await bed.scheduled('lost'))?.held, true, 'it is still the second one’s');
      assert.equal(holder.isLost(), false);
      assert.equal(await holder.giveBack({ dueAt: Date.now() + FAR_MS, note: 'from the second' }), true);
    });
  });

  suite('a due message, when the time to acknowledge it is over,', { concurrency: true }, () => {
    let bed: Awaited<ReturnType<typeof openTicketBed>>;
    before(async () => void (bed = await openTicketBed(SHORT_ACK_WAIT_MS)));
    after(() => bed[Symbol.asyncDispose]());

    test('whose taker crashed before it held the ticket comes again, and the ticket with it', async () => {
      await bed.tickets.ensure('crashed', { dueAt: Date.now(), hurry: false });
      await bed.next('crashed');
      const again = await bed.next('crashed');
      assert.equal(again.redelivered, true);
      assert.equal((await bed.other.tickets.hold(again))?.destinationId, 'crashed');
    });

    test('that comes again because only its acknowledgement was lost is not given out twice', async () => {
      await bed.tickets.ensure('twice', { dueAt: Date.now(), hurry: false });
      const first = await bed.next('twice');
      const ticket = (await bed.tickets.hold(withoutAck(first))) ?? assert.fail();
      const again = await bed.next('twice');
      assert.equal(again.redelivered, true);
      assert.equal(await bed.other.tickets.hold(again), undefined);
      assert.equal(
        await ticket.giveBack({ dueAt: Date.now() + FAR_MS, note: '' }),
        true,
        'the first holder still has it',
      );
    });

    test('that comes again after its ticket was given back brings what was written down last', async () => {
      await bed.tickets.ensure('late', { dueAt: Date.now(), hurry: false });
      const ticket = (await bed.tickets.hold(withoutAck(await bed.next('late')))) ?? assert.fail();
      assert.equal(await ticket.giveBack({ dueAt: Date.now() + FAR_MS, note: 'the latest' }), true);
      const again = await bed.other.tickets.hold(await bed.next('late'));
      assert.equal(again?.note, 'the latest');
    });
  });

  suite('a due message', { concurrency: true }, () => {
    let bed: Awaited<ReturnType<typeof openTicketBed>>;
    before(async () => void (bed = await openTicketBed()));
    after(() => bed[Symbol.asyncDispose]());

    test('whose ticket was ended is no ticket, though its acknowledgement is under way still', async () => {
      await bed.tickets.ensure('done', { dueAt: Date.now(), hurry: false });
      const ticket = (await bed.tickets.hold(withoutAck(await bed.next('done')))) ?? assert.fail();
      await ticket.end();
      assert.ok(!(await bed.tickets.list()).has('done'));
      assert.equal(await bed.other.tickets.ensure('done', { dueAt: Date.now() + FAR_MS, hurry: false }), 'made');
    });

    test('that comes too late for a ticket that is held is gone, and so is the ticket at its end', async () => {
      await bed.tickets.ensure('surplus', { dueAt: Date.now(), hurry: false });
      const ordinary = await bed.next('surplus');
      await bed.tickets.ensure('surplus', { dueAt: Date.now(), hurry: true, isUrgent: true });
      const ticket = (await bed.tickets.hold(await bed.next('surplus'))) ?? assert.fail();
      assert.equal(await bed.other.tickets.hold(withoutAck(ordinary)), undefined);
      await ticket.end();
      assert.ok(!(await bed.tickets.list()).has('surplus'));
    });

    test('that comes too late for a ticket about to fire leaves it to fire', async () => {
      for (let round = 0; round < 10; round += 1) {
        const id = `soon-${round}`;
        await bed.tickets.ensure(id, { dueAt: Date.now(), hurry: false });
        const stale = await bed.next(id);
        const ticket = (await bed.tickets.hold(withoutAck(stale))) ?? assert.fail();
        const dueAt = Date.now() + 900;
        assert.equal(await ticket.giveBack({ dueAt, note: 'n' }), true);
        const second = await bed.other.tickets.hold(stale);
        // On a busy machine it has fired by now, and then the message was not too late.
        if (Date.now() >= dueAt) continue;
        assert.equal(second, undefined);
        assert.equal((await bed.tickets.hold(await bed.next(id)))?.note, 'n');
        return;
      }
      assert.fail('ten times slower than 900 ms');
    });

    test('that nobody has taken yet stays where it is in its line, with its note, whoever asks for a ticket', async () => {
      const ticket = await bed.held('line-keeper');
      await ticket.giveBack({ dueAt: Date.now(), note: 'go on at 7' });
      const due = await bed.next('line-keeper');
      for (const hurry of [false, true]) {
        assert.equal(await bed.other.tickets.ensure('line-keeper', { dueAt: Date.now(), hurry }), 'there');
      }
      assert.equal(await bed.scheduled('line-keeper'), undefined);
      assert.equal((await bed.tickets.hold(due))?.note, 'go on at 7');
    });

    test('that becomes urgent before it is taken takes its note along', async () => {
      const ticket = await bed.held('overtaken');
      await ticket.giveBack({ dueAt: Date.now(), note: 'go on at 7' });
      await bed.next('overtaken');
      const wanted = { dueAt: Date.now(), hurry: true, isUrgent: true };
      assert.equal(await bed.other.tickets.ensure('overtaken', wanted), 'there');
      const urgent = await bed.next('overtaken');
      assert.equal(urgent.subject, 'tickets.urgent.overtaken');
      assert.equal((await bed.tickets.hold(urgent))?.note, 'go on at 7');
    });

    test('is not given out beside another one: what was made between firing and taking makes no second holder', async () => {
      await bed.tickets.ensure('pair', { dueAt: Date.now(), hurry: false });
      const first = await bed.next('pair');
      assert.equal(await bed.tickets.ensure('pair', { dueAt: Date.now(), hurry: true, isUrgent: true }), 'there');
      const second = await bed.next('pair');
      const holders = [await bed.tickets.hold(first), await bed.other.tickets.hold(second)];
      assert.deepEqual(
        holders.map((each) => each?.destinationId),
        ['pair', undefined],
      );
      assert.equal(await holders[0]?.giveBack({ dueAt: Date.now() + FAR_MS, note: '' }), true);
    });
  });

  test('a stream that knows no urgent ones, as older versions make it, has them in its one line', async () => {
    await using bed = await openTicketBed();
    await bed.manager.streams.update('TICKETS', { subjects: ['tickets.at.*', 'tickets.due.*'] });
    const ticket = await bed.held('old', true);
    assert.equal((await bed.scheduled('old'))?.line, 'due');
    assert.equal(await ticket.giveBack({ dueAt: Date.now(), note: 'n', isUrgent: true }), true);
    assert.equal((await bed.next('old')).subject, 'tickets.due.old');
  });

  test('those that NATS has not fired for a minute are written anew as they are, and others stay', async () => {
    await using bed = await openTicketBed();
    const dueAt = Date.now() + FAR_MS;
    const lastSequence = async () => (await bed.manager.streams.info('TICKETS')).state.last_seq;
    await (await bed.held('overdue', true)).giveBack({ dueAt, note: 'kept', isUrgent: true });
    await bed.tickets.ensure('later', { dueAt: dueAt + FAR_MS, hurry: false });
    const [before, last] = [await bed.scheduled('overdue'), await lastSequence()];
    assert.deepEqual([await bed.reviveAt(dueAt + 59_000), await lastSequence()], [0, last]);
    assert.deepEqual([await bed.reviveAt(dueAt + 61_000), await lastSequence()], [1, last + 1]);
    assert.deepEqual(await bed.scheduled('overdue'), before);
  });

  suite('a lane and its ticket', () => {
    test('never part: in 200 races between who parks and who closes, no group is left without a ticket', async () => {
      await using bed = await openTicketBed();
      const lost: string[] = [];
      const race = async (id: string) => {
        const ticket = await bed.held(id);
        const park = async () => {
          assert.equal(await bed.other.lanes.append({ destinationId: id, tier: 0 }, Buffer.from('x')), 'stored');
          await bed.other.tickets.ensure(id, { dueAt: Date.now() + FAR_MS, hurry: false });
        };
        const close = async () => {
          if ((await bed.lanes.count(id)).size > 0) return ticket.giveBack({ dueAt: Date.now() + FAR_MS, note: '' });
          await ticket.end();
          if ((await bed.lanes.count(id)).size === 0) return undefined;
          return bed.tickets.ensure(id, { dueAt: Date.now() + FAR_MS, hurry: true });
        };
        await Promise.all([park(), close()]);
        const [groups, tickets] = [await bed.lanes.count(id), await bed.tickets.list()];
        if (groups.size > 0 && !tickets.has(id)) lost.push(id);
      };
      for (let round = 0; round < 200; round += 25) {
        await Promise.all(Array.from({ length: 25 }, (_, index) => race(`dst_${round + index}`)));
      }
      assert.deepEqual(lost, []);
      assert.equal((await bed.tickets.list()).size, 200);
    });
  });
});
