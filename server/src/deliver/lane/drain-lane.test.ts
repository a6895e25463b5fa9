import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { openLog } from '../../log.ts';
import type { Lanes } from '../../stream/deliveries/lanes.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { deliveryId, encodeDeliveries } from '../../domain/delivery.ts';
import { openDispatcher } from '../dispatch/dispatcher.ts';
import { drainLane, type DrainNeeds } from './drain-lane.ts';
import type { LaneNote } from './lane-note.ts';
import type { Parked } from '../settle/park.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { openTicket } from '../../../testing/lane-ticket.ts';
import { openMemoryLane } from '../../../testing/memory-lane.ts';
import { aDelivery, answersOf, aWebhook, DESTINATION, EVENT, status } from '../../../testing/samples.ts';

const openLane = (groups: Record<number, string[]>) => openMemoryLane(groups, { parkedAt: Date.now() });

/** One holder of the lane's ticket, whose attempts end when the test says so. */
function openHolder(t: TestContext, lanes: Lanes, webhook = aWebhook()) {
  const posted: { id: string; end(): Promise<void>; fail(): Promise<void> }[] = [];
  const ensured: string[] = [];
  const dispatcher = openDispatcher({
    attempt(batch) {
      const id = batch.map(({ delivery }) => delivery.id).join(' ');
      const { promise, resolve } = Promise.withResolvers<Attempt>();
      const answer = (code: number) => {
        resolve({ startedAt: Date.now(), answers: answersOf(status(code)) });
        return settled();
      };
      posted.push({ id, end: () => answer(200), fail: () => answer(503) });
      return promise;
    },
    peers: () => 1,
    learned: () => undefined,
    now: Date.now,
    uptimeMs: () => performance.now(),
    maxInFlight: 100,
  });
  t.after(() => dispatcher[Symbol.dispose]());
  const nothing = () => undefined;
  const needs: DrainNeeds = {
    lanes,
    tickets: {
      ensure: async (id) => (ensured.push(id), 'made' as const),
      hurry: async () => 'none' as const,
      hold: async () => undefined,
      list: async () => new Set<string>(),
      revive: async () => 0,
    },
    config: {
      destination: () => DESTINATION,
      formerOwner: nothing,
      destinationsOf: () => [DESTINATION],
      isEventBlocked: () => false,
      userMark: nothing,
      lastErasureAt: nothing,
      limits: () => new Map(),
      placeOf: () => 'here',
      isSettled: () => true,
      onDestination: () => ({ [Symbol.dispose]: nothing }),
    },
    webhookOf: () => webhook,
    dispatcher,
    settle: async () => 'delivered',
    expire: async () => 'expired',
    skip: async () => 'skipped',
    abandon: async () => 'destination_deleted',
    erase: async () => 'erased',
    reports: {
      report: nothing,
      gateChanged: nothing,
      draining: nothing,
      cleared: nothing,
      isKnown: () => true,
      isOverQuota: () => false,
      appended: nothing,
      changed: nothing,
      all: () => [].values(),
    },
    takeParked: nothing,
    schedule: retrySchedule(1),
    isStopping: () => false,
    now: Date.now,
    uptimeMs: () => performance.now(),
    random: () => 0,
    log: openLog({ level: 'silent', pretty: false }),
  };
  return { posted, ensured, needs };
}

/** Answers each attempt as soon as it begins. */
async function endEach(posted: readonly { end(): Promise<void> }[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    while (posted[index] === undefined) await settled();
    await posted[index]?.end();
  }
}

suite('a look at a lane', () => {
  test('sends what waits, drops it and ends the ticket', async (t) => {
    const lane = openLane({ 1: ['a', 'b'], 2: ['c'] });
    const { posted, needs } = openHolder(t, lane.lanes);
    const { ticket, notes, life } = openTicket();
    const look = drainLane(ticket, needs);
    await endEach(posted, 3);
    await look;
    assert.deepEqual(
      posted.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    assert.equal(lane.stored.size, 0);
    assert.equal(life.isEnded, true);
    assert.deepEqual(notes, []);
  });

  test('makes a ticket for what was parked while it ended the one of an empty lane', async (t) => {
    const lane = openLane({});
    const { ensured, needs } = openHolder(t, lane.lanes);
    const { ticket } = openTicket();
    const end = async () => {
      await ticket.end();
      lane.stored.set(1, ['a']);
    };
    await drainLane({ ...ticket, end }, needs);
    assert.deepEqual(ensured, ['dst_1']);
  });

  test('drops what is done while it drains: a holder that dies repeats little', async (t) => {
    const ids = Array.from({ length: 80 }, (_, index) => `d${index}`);
    const lane = openLane(Object.fromEntries(ids.map((id, index) => [index + 1, [id]])));
    const { posted, needs } = openHolder(t, lane.lanes);
    // Time stands still, so that only the number of deliveries counts.
    const look = drainLane(openTicket().ticket, { ...needs, uptimeMs: () => 0 });
    let mostDone = 0;
    for (let index = 0; index < ids.length; index += 1) {
      while (posted[index] === undefined) await settled();
      await posted[index]?.end();
      mostDone = Math.max(mostDone, index + 1 - (ids.length - lane.stored.size));
    }
    await look;
    assert.ok(lane.drops.length >= 2, `${lane.drops.length} drops`);
    assert.ok(mostDone <= 64, `${mostDone} were done and not dropped`);
  });

  test('sends nothing that an entry which was not authentic brought here from another source', async (t) => {
    const own = aDelivery({ isUndecided: true });
    const ids = { own: deliveryId('dst_1', 'src_1', own.event.messageId), other: deliveryId('dst_1', 'src_2', 'm') };
    const texts = Object.values(ids).map((id) => JSON.stringify({ ...own, id, takenAt: Date.now() }));
    const lane = openLane({ 1: ['replaced'] });
    const group = { sequence: 1, parkedAt: Date.now() + 1, payload: encodeDeliveries(texts), format: '' };
    const lanes = { ...lane.lanes, read: async (_: object, from: number) => (from > 1 ? [] : [group]) };
    const { posted, needs } = openHolder(t, lanes);
    const erased: string[] = [];
    const erase: DrainNeeds['erase'] = async ({ id }) => (erased.push(id), 'erased');
    const look = drainLane(openTicket().ticket, { ...needs, erase });
    while (posted[0] === undefined || erased[0] === undefined) await settled();
    await posted[0].end();
    await look;
    assert.deepEqual([posted.map(({ id }) => id), erased], [[ids.own], [ids.other]]);
  });

  test('comes again when the first of what it parked is due, and asks nobody what is in the lane now', async (t) => {
    const lane = openLane({ 1: ['a', 'b'] });
    const { posted, needs } = openHolder(t, lane.lanes);
    const dueAt = Date.now() + 15_000;
    const parked: Parked[] = [];
    let counts = 0;
    const counting = { ...lane.lanes, count: (id: string) => ((counts += 1), lane.lanes.count(id)) };
    const settle = async () => {
      parked[0] = { groups: new Map([[2, 1]]), dueAt };
      return 'retry' as const;
    };
    const { ticket, dueAts, life } = openTicket();
    const look = drainLane(ticket, { ...needs, lanes: counting, settle, takeParked: () => parked.pop() });
    await endEach(posted, 2);
    await look;
    assert.deepEqual(dueAts, [dueAt]);
    assert.equal(counts, 1);
    assert.equal(life.isEnded, false);
  });

  test('comes again soon when it saw nothing of what is there, whatever it parked', async (t) => {
    const lane = openLane({ 1: ['a'] });
    const { posted, needs } = openHolder(t, lane.lanes);
    const lagging = { ...lane.lanes, read: async () => [] };
    const { ticket, dueAts } = openTicket();
    const parked: Parked = { groups: new Map([[8, 1]]), dueAt: Date.now() + 15_000 };
    const told = [undefined, parked];
    await drainLane(ticket, { ...needs, lanes: lagging, takeParked: () => told.shift() });
    assert.deepEqual(posted, []);
    assert.ok((dueAts[0] ?? Infinity) <= Date.now() + 1_000, 'not only when what it parked is due');
  });

  test('comes again soon for what was handed back, whatever else it parked', async (t) => {
    const lane = openLane({ 1: ['a', 'b', 'c'] });
    const { posted, needs } = openHolder(t, lane.lanes);
    const { ticket, dueAts } = openTicket();
    const far: Parked = { groups: new Map([[8, 1]]), dueAt: Date.now() + 1_800_000 };
    const told = [undefined, far];
    const settle = async () => 'retry' as const;
    const life = { isStopping: false };
    const stopping = { ...needs, settle, takeParked: () => told.shift(), isStopping: () => life.isStopping };
    const look = drainLane(ticket, { ...stopping, webhookOf: () => aWebhook({ maxConcurrency: 1 }) });
    while (posted.length === 0) await settled();
    life.isStopping = true;
    needs.dispatcher.stop();
    await posted[0]?.end();
    await look;
    assert.equal(posted.length, 1);
    assert.ok((dueAts[0] ?? Infinity) <= Date.now() + 1_000, `in ${(dueAts[0] ?? 0) - Date.now()} ms`);
  });

  test('sends no more of a chain when its destination is paused', async (t) => {
    const chained = (id: string) => ({ order: `1-00-1-000${id}` });
    const { lanes } = openMemoryLane({ 1: ['0', '1', '2'] }, { parkedAt: Date.now() }, chained);
    let webhook = aWebhook({ order: 'user' });
    const { posted, needs } = openHolder(t, lanes);
    const written: string[] = [];
    const settle: DrainNeeds['settle'] = async ({ id }) => (written.push(id), 'delivered');
    const look = drainLane(openTicket().ticket, { ...needs, settle, webhookOf: () => webhook });
    while (posted[0] === undefined) await settled();
    webhook = aWebhook({ order: 'user', isPaused: true });
    await posted[0].end();
    await look;
    assert.deepEqual([posted.map(({ id }) => id), written], [['0'], ['0']], 'the rest stays in its group');
  });

  /** The link 1 says that more follow; 8 is of another user. */
  const inParts = (id: string) => ({
    order: `1-00-1-000${id}`,
    event: { ...EVENT, userId: id === '8' ? 'other' : 'one' },
    ...(id === '1' ? { hasMore: true as const } : {}),
  });

  test('has the later groups of a chain wait with a link that fails', async (t) => {
    const { lanes } = openMemoryLane({ 1: ['0', '1'], 2: ['2', '3'] }, { parkedAt: Date.now() }, inParts);
    const { posted, needs } = openHolder(t, lanes, aWebhook({ order: 'user' }));
    const ends: string[] = [];
    const settle: DrainNeeds['settle'] = async ({ id }, _, __, behind = []) => {
      ends.push([id, ...behind.map((each) => each.id)].join(' '));
      return 'retry';
    };
    const look = drainLane(openTicket().ticket, { ...needs, settle });
    while (posted[0] === undefined) await settled();
    await posted[0].fail();
    await look;
    assert.deepEqual([posted.map(({ id }) => id), ends], [['0'], ['0 1 2 3']]);
  });

  test('waits for the rest of a chain that another process is storing, and not for ever', async (t) => {
    const lane = openMemoryLane({ 1: ['0', '1'], 2: ['8'] }, { parkedAt: Date.now() }, inParts);
    const { posted, needs } = openHolder(t, lane.lanes, aWebhook({ order: 'user' }));
    const { ticket, dueAts, notes } = openTicket();
    await drainLane(ticket, needs);
    assert.equal(posted.length, 0);
    assert.ok((dueAts[0] ?? Infinity) < Date.now() + 2_000, 'it looks again soon');
    const late = { ...needs, now: () => Date.now() + 10_000 };
    const look = drainLane(openTicket(notes[0]).ticket, late);
    await endEach(posted, 3);
    await look;
    assert.deepEqual(posted.map(({ id }) => id).toSorted(), ['0', '1', '8']);
  });

  test('sends a long chain over many looks, each link once, and writes none of it again', async (t) => {
    const chained = (id: string) => ({
      order: `1-00-1-${id.padStart(4, '0')}`,
      event: { ...EVENT, userId: userOf(id) },
    });
    const userOf = (id: string) => (id.startsWith('9') ? id : 'slow');
    const links = Array.from({ length: 30 }, (_, nth) => String(nth + 100));
    // Others wait in the group, behind it, and come while it is under way.
    const lane = openMemoryLane({ 1: [...links, '900'], 2: ['901', '902'] }, { parkedAt: Date.now() }, chained);
    const { posted, needs } = openHolder(t, lane.lanes, aWebhook({ order: 'user' }));
    let [uptime, rewritten] = [0, 0];
    const sent: string[] = [];
    const settle: DrainNeeds['settle'] = async (_, __, made, behind = []) => {
      if (made === undefined || behind.length > 0) rewritten += JSON.stringify(behind).length;
      return 'delivered';
    };
    const slow = { ...needs, settle, uptimeMs: () => uptime };
    for (let note: LaneNote | undefined, looks = 0; lane.stored.size > 0; looks += 1) {
      const { ticket, notes } = openTicket(note);
      const look = drainLane(ticket, slow).then(() => true);
      while (!(await Promise.race([look, settled()]))) {
        const [one] = posted.splice(0, 1);
        if (one === undefined) continue;
        sent.push(one.id);
        uptime += 1_000;
        await one.end();
      }
      if (looks < 5) lane.stored.set(looks + 3, [String(looks + 903)]);
      note = notes.at(-1);
    }
    assert.equal(rewritten, 0, 'bytes that went to the lane a second time');
    assert.deepEqual(
      sent.filter((id) => userOf(id) === 'slow'),
      links,
    );
    assert.deepEqual(sent.filter((id) => userOf(id) === id).toSorted(), [
      '900',
      '901',
      '902',
      '903',
      '904',
      '905',
      '906',
      '907',
    ]);
  });

  test('that is paused keeps its place in groups that are half done', async (t) => {
    const lane = openLane({ 4: ['a', 'b', 'c'], 5: ['d', 'e'] });
    const { posted, needs } = openHolder(t, lane.lanes, aWebhook({ isPaused: true }));
    const place = { sequence: 4, taken: 1, ahead: [2], begun: [{ sequence: 5, taken: 1 }] };
    const { ticket, notes } = openTicket({ next: { 0: place } });
    await drainLane(ticket, needs);
    assert.deepEqual([posted, notes[0]?.next], [[], { 0: place }]);
  });
});

suite('a look whose lease went to another holder', () => {
  /** Six deliveries, two of them under way and four waiting for their turn when the lease is lost. */
  async function lose(t: TestContext) {
    const lane = openLane({ 1: ['a', 'b', 'c', 'd', 'e', 'f'] });
    const holder = openHolder(t, lane.lanes, aWebhook({ maxConcurrency: 2 }));
    const settledIds: string[] = [];
    const settle = async ({ id }: { id: string }) => (settledIds.push(id), 'delivered' as const);
    const opened = openTicket();
    const look = drainLane(opened.ticket, { ...holder.needs, settle });
    while (holder.posted.length < 2) await settled();
    opened.life.isLost = true;
    for (const one of holder.posted.slice(0, 2)) await one.end();
    await look;
    return { ...holder, ...opened, lane, settledIds };
  }

  test('begins no attempt any more; what is under way is finished, and the rest stays in the lane', async (t) => {
    const { posted, settledIds, lane } = await lose(t);
    assert.deepEqual(
      posted.map(({ id }) => id),
      ['a', 'b'],
    );
    assert.deepEqual(settledIds, ['a', 'b'], 'and what became of it is kept');
    assert.equal(lane.stored.size, 1);
  });

  test('sees to it that the lane has a ticket, also if nobody else has it by now', async (t) => {
    const { ensured, life } = await lose(t);
    assert.equal(life.isEnded, false);
    assert.deepEqual(ensured, ['dst_1']);
  });
});

suite('an engine that fails during a look', () => {
  test('does not make us forget what was sent: what is under way is waited for, and the place is noted', async (t) => {
    const ids = Array.from({ length: 8 }, (_, index) => [index + 1, [`d${index}`]]);
    const lane = openLane(Object.fromEntries(ids) as Record<number, string[]>);
    const { posted, needs } = openHolder(t, lane.lanes);
    const { ticket, notes } = openTicket();
    let isOver = false;
    const look = drainLane(ticket, needs).then(() => (isOver = true));
    while (posted.length < 8) await settled();
    lane.trouble.read = true;
    lane.trouble.drop = true;
    for (const one of posted.slice(0, 7)) await one.end();
    await settled();
    assert.equal(isOver, false, 'one is still under way');
    await posted[7]?.end();
    await look;
    assert.deepEqual(notes[0]?.next, { 0: { sequence: 9, taken: 0 } });
    assert.equal(lane.stored.size, 8, 'nothing could be dropped');

    lane.trouble.read = false;
    lane.trouble.drop = false;
    const next = openTicket(notes[0]);
    await drainLane(next.ticket, needs);
    assert.equal(posted.length, 8, 'and nothing is sent again');
    assert.equal(lane.stored.size, 0);
    assert.equal(next.life.isEnded, true);
  });

  test('after the ticket was ended makes a new one, for what may have come meanwhile', async (t) => {
    const lane = openLane({});
    const { ensured, needs } = openHolder(t, lane.lanes);
    const { ticket } = openTicket();
    const end = async () => {
      await ticket.end();
      lane.trouble.count = true;
    };
    await drainLane({ ...ticket, end }, needs);
    assert.deepEqual(ensured, ['dst_1']);
  });
});
