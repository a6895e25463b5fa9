import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { names, play } from '../../../testing/dispatcher.ts';
import { failure, status } from '../../../testing/samples.ts';

suite('slots', () => {
  test('are bounded in all, whoever asks', async (t) => {
    const p = play(t, { maxInFlight: 10 });
    for (const destinationId of ['dst_a', 'dst_b', 'dst_c']) await p.prove(destinationId);
    for (const id of names(0, 10))
      for (const destinationId of ['dst_a', 'dst_b', 'dst_c']) p.offer(id, { destinationId });
    assert.equal(p.running.length, 10);
    assert.equal(p.dispatcher.inFlight(), 10);
    assert.equal(p.dispatcher.waiting(), 20);
    while (p.running[0] !== undefined) {
      await p.running[0].end();
      assert.ok(p.running.length <= 10);
    }
    assert.equal(p.finished.length, 30, 'and every one has its turn without a wait for anything but a slot');
    assert.equal(p.dispatcher.inFlight(), 0);
  });

  test('are taken up to a half by receivers that have not shown that they work', async (t) => {
    const p = play(t, { maxInFlight: 10 });
    await p.prove('dst_good');
    for (const id of names(0, 30)) p.offer(id, { destinationId: `dst_${id}` });
    assert.equal(p.running.length, 5);
    assert.equal(p.dispatcher.waiting(), 25, 'the others wait for a second at most');
    for (const id of names(100, 105)) p.offer(id, { destinationId: 'dst_good' });
    assert.equal(p.running.length, 10, 'who works finds the other half free');
  });

  test('are taken up to a quarter by receivers that failed lately, and these wait for no slot', async (t) => {
    const p = play(t, { maxInFlight: 20 });
    for (const id of names(0, 30)) await p.fail(`dst_${id}`);
    for (const id of names(0, 30)) p.offer(id, { destinationId: `dst_${id}` });
    assert.equal(p.running.length, 5);
    assert.equal(p.back.length, 25, 'the others do not wait for them');
    for (const id of names(100, 130)) p.offer(id, { destinationId: `dst_${id}` });
    assert.equal(p.running.length, 10, 'unknown receivers find the other quarter free');
    p.probe('probe', { destinationId: 'dst_d0' });
    assert.equal(p.back.at(-1), 'probe', 'a probe is an attempt of a failing receiver like any other');
  });

  test('are given back by a suspect when it has answered, to the next one', async (t) => {
    const p = play(t, { maxInFlight: 2 });
    for (const destinationId of ['dst_a', 'dst_b']) await p.fail(destinationId);
    p.offer('d0', { destinationId: 'dst_a' });
    p.offer('d1', { destinationId: 'dst_b' });
    assert.deepEqual(p.back, ['d1']);
    await p.running[0]?.end(failure('timeout', 5_000));
    p.offer('d2', { destinationId: 'dst_b' });
    assert.deepEqual(
      p.running.map(({ id }) => id),
      ['d2'],
    );
  });

  test('that a hanging target still uses are not free until it has ended, though the event is delivered', async (t) => {
    const p = play(t, { maxInFlight: 1 });
    await p.prove('dst_1');
    const rest = Promise.withResolvers<void>();
    p.offer('d0');
    p.offer('d1');
    await p.running[0]?.end(status(200), rest.promise);
    assert.deepEqual(p.finished, ['d0']);
    assert.equal(p.dispatcher.inFlight(), 1);
    assert.equal(p.running.length, 0);
    rest.resolve();
    await settled();
    assert.deepEqual(
      p.running.map(({ id }) => id),
      ['d1'],
    );
  });
});

suite('turns', () => {
  test('are shared evenly between one who floods and one who sends a little', async (t) => {
    const p = play(t, { maxInFlight: 4 });
    await p.prove('dst_flood');
    await p.prove('dst_small');
    for (const id of names(0, 200)) p.offer(id, { destinationId: 'dst_flood' });
    for (const id of names(500, 505)) p.offer(id, { destinationId: 'dst_small' });
    for (let end = 0; end < 14; end += 1) await p.running[0]?.end();
    const small = p.started.filter(({ destinationId }) => destinationId === 'dst_small');
    assert.equal(small.length, 5, 'after the four that were under way every second slot is theirs');
  });

  test('are given to each of many in order', async (t) => {
    const p = play(t, { maxInFlight: 1 });
    const all = ['dst_a', 'dst_b', 'dst_c', 'dst_d'];
    for (const destinationId of all) await p.prove(destinationId);
    for (let round = 0; round < 3; round += 1) for (const destinationId of all) p.offer('d', { destinationId });
    while (p.running[0] !== undefined) await p.running[0].end();
    const order = p.started.map(({ destinationId }) => destinationId);
    assert.equal(order.length, 12);
    for (let round = 0; round < 3; round += 1) {
      assert.deepEqual(order.slice(round * 4, round * 4 + 4).sort(), all, `round ${round}`);
    }
  });

  test('of a lane come after every third new event, so that neither starves', async (t) => {
    const p = play(t);
    for (const id of names(0, 8)) p.offer(`new-${id}`, { maxConcurrency: 1 });
    for (const id of names(0, 8)) p.offerBacklog(`old-${id}`, { maxConcurrency: 1 });
    while (p.running[0] !== undefined) await p.running[0].end();
    const kinds = p.started.map(({ id }) => id.slice(0, 3));
    assert.deepEqual(kinds.slice(0, 8), ['new', 'new', 'new', 'old', 'new', 'new', 'new', 'old']);
    assert.equal(kinds.length, 16);
    assert.deepEqual(
      p.started.filter(({ id }) => id.startsWith('new')).map(({ id }) => id),
      names(0, 8).map((id) => `new-${id}`),
      'each kind in its own order',
    );
  });
});

suite('a long backlog', () => {
  test('has no more under way than its window, over all destinations, which take turns; fresh ones do not wait for it', async (t) => {
    const p = play(t, { longMost: 2 });
    for (const id of ['a1', 'a2', 'a3', 'a4']) p.offerLong(id, 'dst_a');
    for (const id of ['b1', 'b2']) p.offerLong(id, 'dst_b');
    p.offer('fresh', { destinationId: 'dst_a' });
    p.offerBacklog('short', { destinationId: 'dst_c' });
    assert.deepEqual(p.started.map(({ id }) => id).sort(), ['a1', 'a2', 'fresh', 'short']);
    await p.running.find(({ id }) => id === 'a1')?.end();
    assert.equal(p.started.at(-1)?.id, 'a3', 'who has waited longest');
    await p.running.find(({ id }) => id === 'a2')?.end();
    assert.equal(p.started.at(-1)?.id, 'b1', 'and then the other');
    for (let ends = 0; ends < 8; ends += 1) {
      await p.running[0]?.end();
      await p.pass(50);
    }
    assert.equal(p.finished.length, 8);
    assert.equal(p.dispatcher.inFlight(), 0);
  });

  test('that is handed back takes no room', async (t) => {
    const p = play(t, { longMost: 1 });
    for (const id of ['a1', 'a2']) p.offerLong(id, 'dst_a');
    p.offerLong('b1', 'dst_b');
    p.dispatcher.shut('dst_a', { why: 'failing', sentence: '', since: 0 });
    assert.deepEqual(p.back, ['a2']);
    await p.running[0]?.end();
    await p.pass(50);
    assert.equal(p.started.at(-1)?.id, 'b1');
  });
});

suite('a new delivery', () => {
  test('waits a second at most, and is then handed back', async (t) => {
    const p = play(t);
    for (const id of names(0, 9)) p.offer(id);
    assert.equal(p.running.length, 8, 'as many as an unknown receiver gets');
    await p.pass(1_000);
    assert.deepEqual(p.back, []);
    await p.pass(50);
    assert.deepEqual(p.back, ['d8']);
  });

  test('is handed back at once when it would wait longer than that', async (t) => {
    const p = play(t);
    const limited = { maxPerSecond: 2 };
    for (const id of names(0, 6)) p.offer(id, limited);
    assert.equal(p.running.length, 1);
    assert.deepEqual(p.back, ['d4', 'd5'], 'three wait for the next second and a half');
  });

  test('is handed back when the destination is paused', (t) => {
    const p = play(t);
    p.offer('d0', { isPaused: true });
    assert.deepEqual(p.back, ['d0']);
  });

  test('is handed back when the limit is too small to be divided among the processes; the lane’s holder keeps it whole', (t) => {
    const p = play(t, { peers: 3 });
    p.offer('d0', { maxConcurrency: 2 });
    assert.deepEqual(p.back, ['d0']);
    for (const id of names(1, 5)) p.offerBacklog(id, { maxConcurrency: 2 });
    assert.equal(p.running.length, 2);
  });
});

suite('the limits of a destination', () => {
  test('maxConcurrency: never more under way, divided among the processes', async (t) => {
    const p = play(t, { peers: 2 });
    for (const id of names(0, 40)) p.offerBacklog(id, { maxConcurrency: 6 });
    let most = 0;
    while (p.running[0] !== undefined) {
      most = Math.max(most, p.running.length);
      await p.running[0].end();
    }
    assert.equal(most, 3);
    assert.equal(p.finished.length, 40);
  });

  test('maxPerSecond: kept over time, divided among the processes', async (t) => {
    const p = play(t, { peers: 2 });
    for (const id of names(0, 100)) p.offerBacklog(id, { maxPerSecond: 20 });
    const perSecond: number[] = [];
    for (let second = 0; second < 5; second += 1) {
      const before = p.started.length;
      for (let step = 0; step < 20; step += 1) {
        await p.pass(50);
        while (p.running[0] !== undefined) await p.running[0].end();
      }
      perSecond.push(p.started.length - before);
    }
    assert.ok(Math.max(...perSecond) <= 11, `in five seconds: ${perSecond.join(', ')}`);
    assert.ok(Math.min(...perSecond) >= 9, `in five seconds: ${perSecond.join(', ')}`);
  });

  test('maxPerSecond: what waits is started by time alone, also after times in which nothing waited', async (t) => {
    const p = play(t);
    for (let time = 1; time <= 3; time += 1) {
      for (const id of names(0, 2)) p.offerBacklog(id, { maxPerSecond: 2 });
      await p.pass(2_000);
      assert.equal(p.started.length, 2 * time);
      while (p.running[0] !== undefined) await p.running[0].end();
      await p.pass(1_000);
    }
  });
});

suite('a clock that is set', () => {
  for (const stepMs of [-3_600_000, 3_600_000]) {
    test(`by ${stepMs} ms neither stops a rate limit nor lets a burst through`, async (t) => {
      const p = play(t);
      for (const id of names(0, 100)) p.offerBacklog(id, { maxPerSecond: 20 });
      await p.pass(1_000);
      const before = p.started.length;
      p.clock.engineAt += stepMs;
      for (let step = 0; step < 20; step += 1) {
        await p.pass(50);
        while (p.running[0] !== undefined) await p.running[0].end();
      }
      const inOneSecond = p.started.length - before;
      assert.ok(inOneSecond >= 18 && inOneSecond <= 22, `${inOneSecond} in a second`);
    });

    test(`by ${stepMs} ms changes nothing in how long a new event waits`, async (t) => {
      const p = play(t);
      for (const id of names(0, 8)) p.offer(id);
      p.offer('waiting');
      await p.pass(500);
      p.clock.engineAt += stepMs;
      await p.pass(400);
      assert.deepEqual(p.back, [], 'not before a second');
      await p.pass(200);
      assert.deepEqual(p.back, ['waiting']);
    });
  }
});

suite('a gate that shuts', () => {
  test('hands back all that waits, new and old, and what comes later', async (t) => {
    const p = play(t);
    for (const id of names(0, 12)) p.offer(id);
    p.offerBacklog('old');
    for (let end = 0; end < 4; end += 1) await p.running[0]?.end(failure('timeout', 5_000));
    assert.deepEqual(p.learned, ['dst_1 failing']);
    assert.deepEqual(p.back, ['d8', 'd9', 'd10', 'd11', 'old']);
    p.offer('later');
    p.offerBacklog('older');
    assert.deepEqual(p.back.slice(-2), ['later', 'older']);
    assert.equal(p.running.length, 4, 'those under way go on');
  });

  test('lets one probe through, and opens if it is answered well', async (t) => {
    const p = play(t);
    p.dispatcher.shut('dst_1', { why: 'failing', sentence: '', since: 0 });
    p.probe('probe');
    await p.running[0]?.end();
    assert.deepEqual(p.learned, ['dst_1 opened']);
    p.offer('d0');
    assert.equal(p.running.length, 1);
  });

  test('by the word of another process hands back too, and opens by its word', (t) => {
    const p = play(t);
    for (const id of names(0, 9)) p.offer(id);
    p.dispatcher.shut('dst_1', { why: 'failing', sentence: '', since: 0 });
    assert.deepEqual(p.back, ['d8']);
    p.dispatcher.reopen('dst_1');
    p.offerBacklog('d9');
    assert.deepEqual(p.back, ['d8']);
  });

  test('until a time opens then, and not before, however long it is', async (t) => {
    const p = play(t);
    const until = p.clock.now + 3_600_000;
    p.dispatcher.shut('dst_1', { why: 'asked_to_wait', sentence: '', since: 0, until });
    await p.pass(3_599_950);
    p.offer('early');
    assert.deepEqual(p.back, ['early']);
    await p.pass(50);
    p.offer('in time');
    assert.equal(p.running.length, 1);
  });
});

suite('stopping', () => {
  test('hands back all that was not started, and starts nothing more', async (t) => {
    const p = play(t);
    for (const id of names(0, 10)) p.offer(id);
    p.offerBacklog('old');
    p.dispatcher.stop();
    assert.deepEqual(p.back, ['d8', 'd9', 'old']);
    p.offer('later');
    p.offerBacklog('older');
    assert.deepEqual(p.back.slice(-2), ['later', 'older']);
    while (p.running[0] !== undefined) await p.running[0].end();
    assert.equal(p.started.length, 8);
    assert.equal(p.finished.length, 8, 'what is under way is seen through');
  });
});
