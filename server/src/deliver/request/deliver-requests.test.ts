import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openLog } from '../../log.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { readRequest } from '../../domain/read-request.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { openRequests } from './deliver-requests.ts';
import type { PendingAttempt } from '../dispatch/line.ts';
import { answersOf, aWebhook, DESTINATION, status } from '../../../testing/samples.ts';
import type { Settlement } from '../settle/settle.ts';
import { until } from '../../../testing/until.ts';

const MOST = { deliveries: 400, bytes: 100_000_000 };

type Bench = ReturnType<typeof openBench>;

/** Requests without an engine: attempts and parked deliveries stay until the test ends them. */
function openBench(destinations = 10, most = MOST, order: 'none' | 'user' = 'none') {
  const log = openLog({ level: 'silent', pretty: false });
  const ids = new Set(Array.from({ length: destinations }, (_, nth) => `dst_${nth}`));
  const config = {
    destinationsOf: (sourceId: string) => [...ids].map((id) => ({ ...DESTINATION, id, sourceId })),
    userMark: () => undefined,
    isEventBlocked: () => false,
  } as unknown as DeliverConfig;
  const attempts: PendingAttempt[] = [];
  const parked: { destinationId: string; delivery: Delivery; behind: readonly Delivery[]; stored(): void }[] = [];
  const seen = { most: 0 };
  const settle: Settlement['settle'] = (delivery, { destinationId }, made, behind = []) => {
    if (made !== undefined) return Promise.resolve('delivered');
    const { promise, resolve } = Promise.withResolvers<'untried'>();
    parked.push({ destinationId, delivery, behind, stored: () => resolve('untried') });
    note();
    return promise;
  };
  const note = () => {
    seen.most = Math.max(seen.most, attempts.length + parked.length);
  };
  const offer = (pending: PendingAttempt) => {
    attempts.push(pending);
    note();
  };
  const requests = openRequests({
    config,
    webhookOf: ({ id }) => aWebhook({ destinationId: id, order }),
    dispatcher: { offer },
    settle,
    follow: (delivery, webhook, _, behind) => settle(delivery, webhook, undefined, behind),
    record: () => Promise.resolve(),
    most,
    now: () => 0,
    log,
  });
  const made = { startedAt: 0, answers: answersOf(status(200)) };
  return {
    requests,
    ids,
    attempts,
    parked,
    seen,
    /** Every receiver answers what it has. */
    answer: () => attempts.splice(0).forEach((pending) => pending.finish(made)),
    store: () => parked.splice(0).forEach(({ stored }) => stored()),
    [Symbol.dispose]: () => requests[Symbol.dispose](),
  };
}

type Told = { acks: number; working: number; givenBack: number };

function aRequest(place: string, calls: number, change: { sourceId?: string; shared?: object } = {}) {
  const { sourceId = 'src_1', shared = {} } = change;
  const batch = Array.from({ length: calls }, (_, nth) => ({
    type: 'track',
    event: place,
    userId: 'u',
    messageId: `${place}-${nth}`,
  }));
  const body = Buffer.from(JSON.stringify({ batch, ...shared }));
  const envelope = JSON.stringify({ shape: 'batch', receivedAt: '2026-11-15T00:08:50.000Z', requestId: place });
  const told: Told = { acks: 0, working: 0, givenBack: 0 };
  const request: PulledRequest = {
    sourceId,
    stored: { stream: 0, sequence: 1 },
    place,
    key: place,
    bytes: body.length,
    events: () => readRequest(envelope, body),
    ack: () => (told.acks += 1),
    working: () => (told.working += 1),
    giveBack: () => (told.givenBack += 1),
    leave: () => assert.fail('it is no newer than this process'),
    setAside: () => assert.fail('all of it can be read'),
  };
  return { request, told };
}

/** Answers and stores everything until the request is acknowledged. */
async function seeThrough(bench: Bench, { told }: { told: Told }): Promise<void> {
  await until(() => {
    bench.answer();
    bench.store();
    return told.acks === 1;
  }, 60_000);
}

function add(ids: Map<string, Set<string>>, destinationId: string, id: string): void {
  ids.set(destinationId, (ids.get(destinationId) ?? new Set()).add(id));
}

const eventsOf = ({ attempts, parked }: Bench) =>
  [...attempts, ...parked].map(({ delivery }) => (delivery.event as { event: string }).event);

suite('requests in memory', () => {
  test('one pull of 64 full batches for ten destinations never holds more deliveries than the budget', async () => {
    using bench = openBench();
    const pulled = Array.from({ length: 64 }, (_, nth) => aRequest(`r${nth}`, 2_500));
    for (const { request } of pulled) bench.requests.take(request);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.ok(bench.attempts.length >= 150 && bench.attempts.length < 170, `${bench.attempts.length} of 400`);
    // Nothing was answered for longer than a request is patient: then its deliveries are on their way to the lanes too.
    await until(() => bench.parked.length >= 150);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.ok(bench.seen.most <= 2 * (150 + 20), `${bench.seen.most} at once`);
  });

  test('a budget in bytes counts what a batch says once for all its calls', async () => {
    using bench = openBench(1, { deliveries: 10_000, bytes: 1_000_000 });
    const shared = { context: { text: 'x'.repeat(30_000) } };
    bench.requests.take(aRequest('large', 250, { shared }).request);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.ok(bench.attempts.length >= 11 && bench.attempts.length <= 13, `${bench.attempts.length} of 32 KB`);
  });

  test('a source that sends single calls has the share of one that sends a batch, and leaves room for the next', async () => {
    const offered = async (...requests: PulledRequest[]) => {
      using bench = openBench(1, { deliveries: 1_000, bytes: 100_000_000 });
      for (const request of requests) bench.requests.take(request);
      for (let turn = 0; turn < 50; turn += 1) await nextTurn();
      return bench.attempts.length;
    };
    const batch = await offered(aRequest('batch', 2_000).request);
    const singles = await offered(...Array.from({ length: 2_000 }, (_, nth) => aRequest(`single${nth}`, 1).request));
    assert.ok(Math.abs(singles - batch) < 20, `${singles} of single calls, ${batch} of a batch`);
  });

  test('every delivery of a request that had to wait is made, each once, before it is acknowledged', async () => {
    using bench = openBench(3);
    const ids: string[] = [];
    const large = aRequest('large', 500);
    bench.requests.take(large.request);
    await until(() => {
      assert.equal(large.told.acks, 0);
      ids.push(
        ...bench.attempts.map(({ delivery }) => delivery.id),
        ...bench.parked.map(({ delivery }) => delivery.id),
      );
      const isLast = ids.length === 1_500;
      bench.answer();
      bench.store();
      return isLast;
    });
    await until(() => large.told.acks === 1);
    assert.equal(new Set(ids).size, 1_500);
    assert.deepEqual([bench.requests.open(), bench.requests.bytes()], [0, 0]);
  });

  test('small requests beside a huge one get their turns, of other sources and of its own', async () => {
    using bench = openBench();
    for (let nth = 0; nth < 20; nth += 1) bench.requests.take(aRequest(`huge ${nth}`, 2_500).request);
    const others = Array.from({ length: 20 }, (_, nth) => aRequest(`other ${nth}`, 1, { sourceId: `src_o${nth}` }));
    for (const { request } of others) bench.requests.take(request);
    await until(() => new Set(eventsOf(bench).filter((name) => name.startsWith('other'))).size === 20);

    const own = aRequest('own', 1);
    bench.requests.take(own.request);
    // After some rounds of answers only: the huge ones need hundreds.
    let rounds = 0;
    await until(() => {
      const isThere = eventsOf(bench).includes('own');
      bench.answer();
      bench.store();
      rounds += 1;
      return isThere;
    });
    assert.ok(rounds < 200, `${rounds} rounds`);
  });

  test('large requests of one source are taken apart one after the other, so that a process that dies repeats one', async () => {
    using bench = openBench();
    const all = Array.from({ length: 5 }, (_, nth) => aRequest(`r${nth}`, 500));
    for (const { request } of all) bench.requests.take(request);
    const begun = new Map<string, number>();
    await until(() => {
      for (const name of eventsOf(bench)) begun.set(name, (begun.get(name) ?? 0) + 1);
      const counts = [...begun.values()].slice(0, -1);
      assert.ok(counts.every((count) => count === 5_000), `${counts.join()} before the last one`); // biome-ignore format: short
      bench.answer();
      bench.store();
      return all.every(({ told }) => told.acks === 1);
    }, 30_000);
    assert.deepEqual([...begun.keys()], ['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  test('no turn of the event loop begins more than some hundred deliveries, nor reads more than one full batch', async () => {
    using bench = openBench(10, { deliveries: 100_000, bytes: 1_000_000_000 });
    let reads = 0;
    for (let nth = 0; nth < 8; nth += 1) {
      const { request } = aRequest(`r${nth}`, 2_500);
      const events = () => {
        reads += 1;
        return request.events();
      };
      bench.requests.take({ ...request, events });
    }
    for (let turn = 0; turn < 40; turn += 1) {
      const before = { attempts: bench.attempts.length, reads };
      await nextTurn();
      assert.ok(
        bench.attempts.length - before.attempts <= 1_000,
        `${bench.attempts.length - before.attempts} deliveries`,
      );
      assert.ok(reads - before.reads <= 4, `${reads - before.reads} batches of 200 KB`);
    }
  });

  test('a line that comes back as a whole is settled in slices', async () => {
    using bench = openBench(10, { deliveries: 40_000, bytes: 1_000_000_000 });
    bench.requests.take(aRequest('large', 1_000).request);
    await until(() => bench.attempts.length === 10_000);
    await nextTurn();
    await nextTurn();
    for (const pending of bench.attempts.splice(0)) pending.finish(undefined);
    assert.ok(bench.parked.length < 1_000, `${bench.parked.length} at once`);
    await until(() => bench.parked.length === 10_000);
  });

  test('the engine is told of a request that waits for room that this process is at it', async () => {
    using bench = openBench();
    const first = aRequest('first', 2_500);
    const waits = Array.from({ length: 40 }, (_, nth) => aRequest(`waits ${nth}`, 2_500));
    for (const { request } of [first, ...waits]) bench.requests.take(request);
    await until(() => waits.every(({ told }) => told.working >= 1));
    assert.ok(waits.every(({ told }) => told.acks + told.givenBack === 0));
  });

  test('a request that the engine sends again while it waits is begun once, and the new copy is acknowledged', async () => {
    using bench = openBench(1);
    const first = aRequest('r', 2_000);
    const again = aRequest('r', 2_000);
    bench.requests.take(first.request);
    bench.requests.take(again.request);
    const ids = new Set<string>();
    let made = 0;
    await until(() => {
      for (const { delivery } of [...bench.attempts, ...bench.parked]) ids.add(delivery.id);
      made += bench.attempts.length + bench.parked.length;
      bench.answer();
      bench.store();
      return again.told.acks === 1;
    });
    assert.deepEqual([made, ids.size, first.told.acks], [2_000, 2_000, 0]);
    assert.equal(bench.requests.bytes(), 0);
  });

  test('a destination that is deleted in the middle of a request gets nothing more, the others get everything', async () => {
    using bench = openBench(2);
    const large = aRequest('large', 2_500);
    bench.requests.take(large.request);
    await until(() => bench.attempts.length >= 150);
    bench.ids.delete('dst_1');
    const begun = bench.attempts.length + bench.parked.length;
    const ids = new Map<string, Set<string>>();
    await until(() => {
      for (const { webhook, delivery } of bench.attempts) add(ids, webhook.destinationId, delivery.id);
      for (const { destinationId, delivery } of bench.parked) add(ids, destinationId, delivery.id);
      bench.answer();
      bench.store();
      return large.told.acks === 1;
    });
    assert.equal(ids.get('dst_0')?.size, 2_500);
    const left = ids.get('dst_1')?.size ?? 0;
    assert.ok(left <= begun + 1, `${left} of ${begun} that were begun`);
  });

  test('a request that is kept in quarantine is acknowledged when it is there, not before', async () => {
    using bench = openBench();
    const kept = aRequest('kept', 1);
    const answers = ['unavailable', 'stored'] as const;
    const reasons: string[] = [];
    const setAside = async (why: string) => {
      assert.deepEqual([kept.told.acks, bench.requests.open()], [0, 1]);
      reasons.push(why);
      return answers[reasons.length - 1] ?? assert.fail('once is enough');
    };
    bench.requests.keep({ ...kept.request, setAside }, 'of no source');
    await until(() => kept.told.acks === 1);
    assert.deepEqual(reasons, ['of no source', 'of no source']);
    assert.deepEqual([bench.attempts.length, bench.requests.open(), bench.requests.bytes()], [0, 0, 0]);
    // NATS sends it once more.
    bench.requests.keep({ ...kept.request, setAside }, 'of no source');
    assert.equal(kept.told.acks, 2);
  });

  test('a request of one user that is larger than the budget reaches the lane in its order, and nothing overtakes it', async () => {
    using bench = openBench(1, { deliveries: 40, bytes: 100_000_000 }, 'user');
    const large = aRequest('large', 100);
    bench.requests.take(large.request);
    await until(() => bench.attempts.length === 1);
    const stored: Delivery[] = [];
    const offered = new Set<string>();
    await until(() => {
      for (const { delivery } of bench.attempts) offered.add(delivery.event.messageId);
      // The receiver answers one, and no more: the others go to the lane when their time is up.
      if (stored.length === 0 && offered.size === 1) bench.answer();
      for (const { delivery, behind } of bench.parked) stored.push(delivery, ...behind);
      bench.store();
      if (stored.length === 0 && offered.size === 2) bench.attempts.splice(0).forEach((one) => one.finish(undefined));
      return large.told.acks === 1;
    }, 30_000);
    const all = Array.from({ length: 100 }, (_, nth) => `large-${nth}`);
    assert.deepEqual([...offered], all.slice(0, 2));
    assert.deepEqual(stored.map(({ event }) => event.messageId), all.slice(1)); // biome-ignore format: short
    const marks = stored.filter(({ hasMore }) => hasMore === true).length;
    assert.ok(marks >= 2 && stored.at(-1)?.hasMore === undefined, `${marks} parts say that more follow`);
  });

  test('on stop what was not begun goes back at once, and what was begun is seen through', async () => {
    using bench = openBench();
    const all = Array.from({ length: 64 }, (_, nth) => aRequest(`r${nth}`, 2_500));
    for (const { request } of all) bench.requests.take(request);
    await until(() => bench.attempts.length >= 150);
    bench.requests.stop();
    const back = all.filter(({ told }) => told.givenBack === 1);
    assert.ok(back.length >= 20 && back.length < 64, `${back.length} given back`);
    assert.equal(bench.requests.open(), 64 - back.length);
    for (const begun of all.filter(({ told }) => told.givenBack === 0)) await seeThrough(bench, begun);
    assert.deepEqual([bench.requests.open(), bench.requests.bytes()], [0, 0]);
    assert.ok(all.every(({ told }) => told.acks + told.givenBack === 1));
  });
});
