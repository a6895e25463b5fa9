/** The header that deliveries are sorted by, and destinations that get one user's events of a request one after the other. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { childProgram } from '../../testing/child-program.ts';
import { type DestinationChange, openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { track } from '../../testing/samples.ts';
import { until } from '../../testing/until.ts';

const MINUTE = 60_000;
const CHILD = childProgram('deliver-child.ts');
const SCALE = { retryScale: 20 };

const nameOf = ({ body }: Received) => (JSON.parse(body) as { event: string }).event;
const orderIn = ({ headers }: Received) => String(headers['x-millrace-order']);

/** A call named after its request, its user and its number among the user's in the request. */
function call(request: number, user: string, nth: number): object {
  return track(`${request} ${user} ${nth}`, { userId: user });
}

/** The calls of several users in one request, in turn. */
function callsOf(request: number, users: readonly string[], each: number): object[] {
  return Array.from({ length: each }, (_, nth) => users.map((user) => call(request, user, nth))).flat();
}

/**
 * A receiver that notes each request that begins before all earlier ones of its user in the same request were taken. It answers the
 * status that `judge` gives, after a while.
 */
async function openOrderedReceiver(judge: (name: string) => number = () => 200, afterMs = 0) {
  const taken = new Set<string>();
  const early: string[] = [];
  let open = 0;
  const most = { open: 0 };
  const respond = (one: Received, response: ServerResponse) => {
    const name = nameOf(one);
    const [request = '', user = '', nth = ''] = name.split(' ');
    for (let before = 0; before < Number(nth); before += 1) {
      if (!taken.has(`${request} ${user} ${before}`)) early.push(`${name} before ${before}`);
    }
    open += 1;
    most.open = Math.max(most.open, open);
    const reply = () => {
      open -= 1;
      const status = judge(name);
      // A call that is refused for good holds up none of those behind it.
      if (status < 500) taken.add(name);
      answer(status)(one, response);
    };
    if (afterMs === 0) reply();
    else setTimeout(reply, afterMs);
  };
  const receiver = await openReceiver(respond);
  const names = () => receiver.received.map(nameOf);
  return { ...receiver, taken, early, most, names, [Symbol.asyncDispose]: receiver[Symbol.asyncDispose] };
}

const ordered = (url: string): DestinationChange => ({ settings: { targets: [{ url }], order: 'user' } });
const isEmpty = async (bed: Awaited<ReturnType<typeof openBed>>) =>
  (await bed.unsettled()) === 0 && (await bed.tickets()).length === 0;

suite('X-Millrace-Order', () => {
  test('sorts as the events were stored, and is the same in each attempt and at each destination', async () => {
    await using bed = await openBed();
    const failed = new Set<string>();
    await using failing = await openReceiver((one, response) => {
      const isFirst = !failed.has(nameOf(one));
      failed.add(nameOf(one));
      answer(isFirst ? 500 : 200)(one, response);
    });
    await using healthy = await openReceiver();
    await bed.putDestination({ id: 'dst_1', settings: { targets: [{ url: failing.url }] } });
    await bed.putDestination({ id: 'dst_2', settings: { targets: [{ url: healthy.url }] } });
    await using _ = await bed.deliver(SCALE);
    for (const request of [1, 2, 3]) await bed.append(...callsOf(request, ['a', 'b'], 2));
    await until(() => healthy.received.length === 12 && failing.received.length === 24);
    const inOrder = healthy.received.toSorted((one, other) => (orderIn(one) < orderIn(other) ? -1 : 1)).map(nameOf);
    const stored = [1, 2, 3].flatMap((request) => ['a 0', 'b 0', 'a 1', 'b 1'].map((name) => `${request} ${name}`));
    assert.deepEqual(inOrder, stored);
    const orders = new Map(healthy.received.map((one) => [nameOf(one), orderIn(one)]));
    for (const one of failing.received) assert.equal(orderIn(one), orders.get(nameOf(one)));
    assert.match(orderIn(healthy.received[0] ?? assert.fail()), /^\d{13}-00-\d{15}-000\d$/);
  });

  test('counts the places of refused calls', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver();
    await bed.append(track('a'), { type: 'no such type' }, track('b'));
    await until(() => receiver.received.length === 2);
    const places = new Map(receiver.received.map((one) => [nameOf(one), orderIn(one).slice(-4)]));
    assert.deepEqual([places.get('a'), places.get('b')], ['0000', '0002']);
  });
});

suite('a destination with the order of users', () => {
  test('gets the events of one user one after the other, and those of others beside them', async () => {
    await using bed = await openBed();
    await using receiver = await openOrderedReceiver(() => 200, 20);
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver();
    await bed.append(...callsOf(1, ['a', 'b', 'c', 'd'], 8));
    await until(() => receiver.taken.size === 32);
    assert.deepEqual(receiver.early, []);
    assert.ok(receiver.most.open >= 3, `${receiver.most.open} at once`);
    assert.equal(receiver.received.length, 32);
    await until(async () => isEmpty(bed));
  });

  test('has the followers wait for one that fails, in the lane, and no other user waits', async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openOrderedReceiver((name) => (isDown && name === '1 a 2' ? 503 : 200));
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver(SCALE);
    await bed.append(...callsOf(1, ['a', 'b'], 20), ...callsOf(1, ['c'], 20));
    const count = (user: string) => [...receiver.taken].filter((name) => name.startsWith(`1 ${user} `)).length;
    await until(() => count('b') === 20 && count('c') === 20);
    await until(() => receiver.names().filter((name) => name === '1 a 2').length >= 3);
    assert.equal(count('a'), 2);
    isDown = false;
    await until(() => count('a') === 20);
    assert.deepEqual(receiver.early, []);
    await until(async () => isEmpty(bed));
    const repeated = receiver.names().filter((name) => name !== '1 a 2');
    assert.equal(repeated.length, 59, 'each once');
  });

  test('keeps it for a request that neither memory nor one group holds at once', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let dice = 0;
    await using receiver = await openOrderedReceiver(() => ((dice += 1) % 300 === 0 ? 503 : 200));
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver({ ...SCALE, maxInFlight: 50 });
    await bed.append(...callsOf(1, ['a'], 1_500));
    await until(() => receiver.taken.size === 1_500, 2 * MINUTE);
    assert.deepEqual(receiver.early, []);
    await until(async () => isEmpty(bed));
    assert.equal(receiver.received.length, 1_500 + Math.floor(dice / 300), 'each once, and again when it failed');
  });

  test('goes on behind an event that is refused for good, and keeps its dead letter', async () => {
    await using bed = await openBed();
    await using receiver = await openOrderedReceiver((name) => (name === '1 a 1' ? 400 : 200));
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver(SCALE);
    await bed.append(...callsOf(1, ['a'], 5));
    await until(() => receiver.taken.size === 5);
    assert.deepEqual(receiver.names(), ['1 a 0', '1 a 1', '1 a 2', '1 a 3', '1 a 4']);
    await until(async () => (await bed.deadLetters()).length === 1);
    const [letter] = await bed.deadLetters();
    assert.equal(letter?.delivery.order?.slice(-4), '0001');
    await until(async () => isEmpty(bed));
  });

  test('gives a follower its own window when the one before it is given up', async () => {
    await using bed = await openBed();
    await using receiver = await openOrderedReceiver((name) => (name === '1 a 0' ? 503 : 200));
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver({ retryScale: 7_200 });
    await bed.append(...callsOf(1, ['a'], 3), ...callsOf(1, ['b'], 1));
    await until(async () => (await bed.deadLetters()).length === 1, MINUTE);
    await until(() => receiver.taken.has('1 a 2'), MINUTE);
    const [letter, ...others] = await bed.deadLetters();
    assert.deepEqual([letter?.reason, others.length], ['expired', 0]);
    assert.deepEqual(new Set(receiver.early), new Set(['1 a 1 before 0', '1 a 2 before 0']));
    const last = receiver.names().lastIndexOf('1 a 0');
    assert.ok(receiver.names().indexOf('1 a 1') > last, 'not before it was given up');
  });

  test('keeps it through a breaker that opens, probes, and a lane that drains', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openOrderedReceiver(() => (isDown ? 500 : 200));
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver(SCALE);
    const users = Array.from({ length: 12 }, (_, nth) => `u${nth}`);
    for (const request of [1, 2, 3, 4]) await bed.append(...callsOf(request, users, 10));
    await until(async () => (await bed.unsettled()) === 0);
    assert.equal(receiver.taken.size, 0);
    isDown = false;
    const before = receiver.received.length;
    await until(() => receiver.taken.size === 480, 2 * MINUTE);
    assert.deepEqual(receiver.early, []);
    await until(async () => isEmpty(bed));
    assert.equal(receiver.received.length - before, 480, 'each once');
    assert.deepEqual(await bed.deadLetters(), []);
  });

  test('keeps it at a host that is at its cap', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    await using receiver = await openOrderedReceiver(() => 200, 5);
    await bed.putDestination(ordered(receiver.url));
    await using _ = await bed.deliver({ ...SCALE, hostCap: { attempts: 2, perSecond: 200 } });
    for (const request of [1, 2, 3]) await bed.append(...callsOf(request, ['a', 'b', 'c', 'd', 'e'], 20));
    await until(() => receiver.taken.size === 300, 2 * MINUTE);
    assert.deepEqual(receiver.early, []);
    assert.ok(receiver.most.open <= 2, `${receiver.most.open} at once`);
    await until(async () => isEmpty(bed));
    assert.equal(receiver.received.length, 300, 'each once');
  });

  test('keeps it when a process stops in the middle, and nothing is sent twice', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let dice = 0;
    await using receiver = await openOrderedReceiver(() => ((dice += 1) % 7 === 0 ? 503 : 200), 10);
    await bed.putDestination(ordered(receiver.url));
    const first = await bed.deliver(SCALE);
    for (const request of [1, 2]) await bed.append(...callsOf(request, ['a', 'b', 'c'], 60));
    await until(() => receiver.taken.size > 60);
    await first[Symbol.asyncDispose]();
    assert.equal(await bed.unsettled(), 0);
    const second = await bed.deliver(SCALE);
    await until(() => receiver.taken.size > 200);
    await second[Symbol.asyncDispose]();
    await using _ = await bed.deliver(SCALE);
    await until(() => receiver.taken.size === 360, 2 * MINUTE);
    await until(async () => isEmpty(bed));
    assert.deepEqual(receiver.early, []);
    const failures = Math.floor(dice / 7);
    assert.equal(receiver.received.length, 360 + failures, 'each once, and again when it failed');
  });

  test('keeps it through a kill: each event comes first after those before it', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    let dice = 0;
    await using receiver = await openOrderedReceiver(() => ((dice += 1) % 5 === 0 ? 503 : 200), 5);
    await bed.putDestination(ordered(receiver.url));
    const child = fork(CHILD, [bed.cluster.url, JSON.stringify(SCALE)]);
    try {
      for (const request of [1, 2, 3]) await bed.append(...callsOf(request, ['a', 'b', 'c', 'd'], 30));
      await until(() => receiver.taken.size >= 120, MINUTE);
    } finally {
      child.kill('SIGKILL');
    }
    await using _ = await bed.deliver(SCALE);
    await until(() => receiver.taken.size === 360, 2 * MINUTE);
    assert.deepEqual(receiver.early, []);
    await until(async () => isEmpty(bed), MINUTE);
    assert.deepEqual(await bed.deadLetters(), []);
  });
});
