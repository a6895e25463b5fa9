/** A lane is attempted before its time because a person asked for it: nothing is sent twice, nothing is lost. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { suite, test } from 'node:test';
import { childProgram } from '../../testing/child-program.ts';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { staysTrueFor, until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';
import { LEASE_MS } from '../stream/deliveries/tickets.ts';
import { ticketAtSubject } from '../stream/layout/layout.ts';

/** The first retry is due after 100 seconds: only a hurry brings it earlier. */
const SLOW = { retryScale: 0.05 };
const MINUTE = 60_000;
const HOURS = 36_000_000;
const CHILD = childProgram('deliver-child.ts');

const nameOf = ({ body }: Received) => (JSON.parse(body) as { event: string }).event;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => track(`e${index}`));

async function openHurrying(bed: Bed) {
  const side = await bed.stream.deliverySide();
  return {
    ask: (upTo?: number) =>
      side.tickets.hurry('dst_1', { at: side.now(), ...(upTo === undefined ? {} : { upTo: side.now() + upTo }) }),
    [Symbol.asyncDispose]: () => side[Symbol.asyncDispose](),
  };
}
/** How long it is until the ticket of the lane fires. */
async function dueIn({ manager }: Bed): Promise<number> {
  const ticket = await manager.streams.getMessage('TICKETS', { last_by_subj: ticketAtSubject('dst_1') });
  return ticket === null ? 0 : Date.parse(ticket.header.get('Nats-Schedule').replace('@at ', '')) - Date.now();
}
const isQuiet = async (bed: Bed) => (await bed.tickets()).every((subject) => subject.startsWith('tickets.at.'));

suite('a lane that is hurried', () => {
  test('attempts a delivery long before its time, once, and is empty then', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(track('one'));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 1, MINUTE);
    isDown = false;
    await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
    await until(async () => receiver.received.length === 2 && (await bed.tickets()).length === 0, MINUTE);
    assert.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id']);
    assert.equal(await hurrying.ask(HOURS), 'none', 'nothing waits any more');
  });

  test('attempts each delivery once for each request, however short the next wait is', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver((one, response) =>
      answer(nameOf(one).startsWith('e') ? 500 : 200)(one, response),
    );
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(4));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 4, MINUTE);
    // A success between them, so that the breaker stays shut.
    await bed.append(track('good'));
    await until(() => receiver.received.length === 5, MINUTE);
    await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
    await until(() => receiver.received.length >= 9, MINUTE);
    await staysTrueFor(2_000, () => receiver.received.length === 9);
    const counts = Map.groupBy(receiver.received.map(nameOf), (name) => name);
    assert.deepEqual([...counts].map(([name, all]) => `${name} ${all.length}`).toSorted(), [
      'e0 2',
      'e1 2',
      'e2 2',
      'e3 2',
      'good 1',
    ]);
  });

  test('leaves alone what is due later than asked for', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(500));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(2));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 2, MINUTE);
    await until(async () => (await hurrying.ask(MINUTE)) === 'hurried', MINUTE);
    await until(() => isQuiet(bed), MINUTE);
    await staysTrueFor(1_000, () => receiver.received.length === 2);
    await until(async () => (await hurrying.ask()) === 'hurried', MINUTE);
    await until(() => receiver.received.length === 3, MINUTE);
    await staysTrueFor(1_000, () => receiver.received.length === 3);
  });

  test('with an open breaker makes one probe for each request, and sends all when one succeeds', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(200));
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    await until(() => isQuiet(bed), MINUTE);
    const before = receiver.received.length;
    for (let probes = 1; probes <= 2; probes += 1) {
      await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
      await until(() => receiver.received.length >= before + probes, MINUTE);
      await staysTrueFor(1_000, () => receiver.received.length === before + probes);
    }
    isDown = false;
    const failed = receiver.received.length;
    await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
    await until(async () => (await bed.tickets()).length === 0, MINUTE);
    const good = receiver.received.slice(failed).map(nameOf);
    assert.equal(new Set(good).size, 200);
    assert.equal(good.length, 200, 'each once');
    assert.deepEqual(await bed.deadLetters(), []);
  });

  test('with an open breaker is probed at its time all the same, if the probe that a person asked for fails', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(500));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(30));
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    await until(async () => (await dueIn(bed)) > 60_000, MINUTE);
    const plannedIn = await dueIn(bed);
    const askedAt = Date.now();
    const before = receiver.received.length;
    // Some time of the wait has passed.
    await staysTrueFor(3_000, () => receiver.received.length === before);
    await until(async () => (await hurrying.ask()) === 'hurried', MINUTE);
    await until(() => receiver.received.length === before + 1, MINUTE);
    await until(async () => (await isQuiet(bed)) && (await dueIn(bed)) > LEASE_MS, MINUTE);
    const later = (await dueIn(bed)) + (Date.now() - askedAt) - plannedIn;
    assert.ok(later < 1_000, `the next probe is ${later} ms later than it was`);
  });

  test('by ten callers at once, with two processes and a slow receiver, sends nothing twice and loses nothing', {
    timeout: 4 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    let isDown = true;
    const slowly = (one: Received, response: Parameters<ReturnType<typeof answer>>[1]) =>
      void setTimeout(() => answer(200)(one, response), 200);
    await using receiver = await openReceiver((one, response) =>
      isDown ? answer(500)(one, response) : slowly(one, response),
    );
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using first = await bed.deliver(SLOW);
    await using second = await bed.deliver(SLOW);
    assert.notEqual(first, second);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(50));
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    await until(() => isQuiet(bed), MINUTE);
    isDown = false;
    const before = receiver.received.length;
    const storm = async () => {
      while ((await bed.tickets()).length > 0) {
        const answers = await Promise.all(Array.from({ length: 10 }, () => hurrying.ask(HOURS)));
        for (const one of answers) assert.ok(['hurried', 'held', 'none'].includes(one), one);
      }
    };
    await storm();
    const good = receiver.received.slice(before).map(nameOf);
    assert.equal(new Set(good).size, 50, 'nothing is lost');
    assert.equal(good.length, 50, 'nothing is sent twice');
    assert.deepEqual(await bed.deadLetters(), []);
    assert.deepEqual(await bed.laneGroups(), {});
  });

  test('sends nothing while the destination is paused, and everything once when it is resumed', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    const settings = { targets: [{ url: receiver.url }] };
    await bed.putDestination({ settings });
    await using _ = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(3));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 3, MINUTE);
    await bed.putDestination({ settings, paused: true });
    isDown = false;
    await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
    await until(() => isQuiet(bed), MINUTE);
    await staysTrueFor(1_000, () => receiver.received.length === 3);
    await bed.putDestination({ settings });
    await until(async () => (await hurrying.ask(HOURS)) !== 'hurried' || receiver.received.length === 6, MINUTE);
    await until(async () => {
      await hurrying.ask(HOURS);
      return (await bed.tickets()).length === 0;
    }, MINUTE);
    assert.equal(receiver.received.length, 6);
  });

  test('keeps the request for a process that starts later', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    const first = await bed.deliver(SLOW);
    await using hurrying = await openHurrying(bed);
    await bed.append(...numbered(3));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 3, MINUTE);
    await first[Symbol.asyncDispose]();
    await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
    isDown = false;
    // No process was there when it was asked: the next one finds the request in the ticket.
    await using _ = await bed.deliver(SLOW);
    await until(async () => (await bed.tickets()).length === 0, MINUTE);
    assert.equal(receiver.received.length, 6);
  });

  test('is hurried again by the next holder when a kill ends the first one, and no delivery is lost', {
    timeout: 3 * MINUTE,
  }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => {
      if (isDown) answer(500)(one, response);
      else setTimeout(() => answer(200)(one, response), 300);
    });
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxConcurrency: 1 } });
    const child = fork(CHILD, [bed.cluster.url, JSON.stringify(SLOW)]);
    try {
      await using hurrying = await openHurrying(bed);
      await bed.append(...numbered(6));
      await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 6, MINUTE);
      isDown = false;
      await until(async () => (await hurrying.ask(HOURS)) === 'hurried', MINUTE);
      await until(() => receiver.received.length >= 9, MINUTE);
    } finally {
      child.kill('SIGKILL');
    }
    const killedAt = Date.now();
    await using _ = await bed.deliver(SLOW);
    await until(async () => (await bed.tickets()).length === 0, MINUTE);
    assert.ok(Date.now() - killedAt < 60_000, 'not at the time of the schedule, which is 100 seconds later');
    const names = receiver.received.slice(6).map(nameOf);
    assert.equal(new Set(names).size, 6, 'none is lost');
    assert.ok(names.length <= 10, `${names.length}: those of the killed holder, and no other, come again`);
    assert.deepEqual(await bed.laneGroups(), {});
    assert.deepEqual(await bed.deadLetters(), []);
  });
});
