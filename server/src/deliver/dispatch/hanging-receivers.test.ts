import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { names, play } from '../../../testing/dispatcher.ts';
import { failure, status } from '../../../testing/samples.ts';

suite('receivers that hang', () => {
  const healthy = { destinationId: 'dst_healthy' };

  test('leave their slots to others after 300 ms, up to as many as there are slots', async (t) => {
    const p = play(t, { maxInFlight: 10 });
    for (const id of names(0, 30)) p.offer(id, { destinationId: `dst_${id}` });
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [5, 0]);
    await p.pass(300);
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [5, 5]);
    await p.pass(300);
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [5, 10]);
    await p.pass(300);
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [5, 10], 'the reserve is full');
    assert.equal(p.running.length, 15);
    await p.running[0]?.end(failure('timeout', 5_000));
    await p.pass(50);
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [5, 10], 'and one after the other moves on');
    while (p.running[0] !== undefined) await p.running[0].end(failure('timeout', 5_000));
    assert.deepEqual([p.dispatcher.inFlight(), p.dispatcher.late()], [0, 0]);
  });

  test('a thousand at once, many events for each: a receiver that nothing is known about starts at once', async (t) => {
    const p = play(t, { maxInFlight: 1_000 });
    for (let round = 0; round < 8; round += 1) {
      for (const id of names(0, 1_000)) p.offer(id, { destinationId: `dst_${id}` });
      await p.pass(100);
    }
    assert.equal(p.running.length, 1_000, 'one for each: few until the first answer');
    await p.pass(300);
    assert.equal(p.dispatcher.waiting(), 0, 'what else there is for them waits in lanes');
    for (const id of names(2_000, 2_100)) {
      p.offer(id, { destinationId: `dst_${id}` });
      assert.equal(p.running.at(-1)?.id, id);
      await p.running.at(-1)?.end();
    }
  });

  test('although they worked until now: those that were quiet start at once, before and after', async (t) => {
    const all = names(0, 1_000).map((id) => `dst_${id}`);
    const p = play(t, { maxInFlight: 1_000, worked: [...all, healthy.destinationId] });
    for (const destinationId of all.slice(0, 500)) await p.prove(destinationId, 1);
    await p.pass(500);
    for (let round = 0; round < 8; round += 1) {
      for (const destinationId of all) p.offer(`d${round}`, { destinationId });
      await p.pass(100);
      p.offer('healthy', healthy);
      if (round < 3) continue;
      assert.equal(p.running.at(-1)?.id, 'healthy', `in round ${round}`);
      await p.running.at(-1)?.end();
    }
  });

  test('get what is new for them handed back at once when slots are scarce, and wait a second when they are not', async (t) => {
    const p = play(t, { maxInFlight: 80 });
    for (const id of names(0, 9)) p.offer(id);
    await p.pass(400);
    assert.deepEqual(p.back, [], 'a lone slow receiver');
    for (const id of names(100, 104)) p.offer(id, { destinationId: `dst_${id}` });
    await p.pass(400);
    assert.deepEqual(p.back, ['d8']);
    p.offer('d9');
    assert.deepEqual(p.back, ['d8', 'd9']);
    await p.running[0]?.end();
    p.offer('d10');
    assert.equal(p.back.length, 2, 'an answer ends the doubt');
  });

  test('that answer after all are not limited any more', async (t) => {
    const p = play(t, { maxInFlight: 80 });
    for (const id of names(100, 112)) p.offer(id, { destinationId: `dst_${id}` });
    for (const id of names(0, 5)) p.offer(id, healthy);
    const ofHealthy = () => p.running.filter(({ destinationId }) => destinationId === healthy.destinationId);
    assert.equal(ofHealthy().length, 1, 'one until it answers');
    await ofHealthy()[0]?.end();
    assert.equal(ofHealthy().length, 4, 'then all');
  });

  test('do not stand in for a receiver that is slow and answers', async (t) => {
    const p = play(t, { maxInFlight: 100 });
    await p.prove('dst_slow');
    for (const id of names(0, 5)) p.offer(id, { destinationId: 'dst_slow' });
    await p.pass(100);
    await p.running[0]?.end();
    await p.pass(200);
    p.offer('later', { destinationId: 'dst_slow' });
    assert.equal(p.running.at(-1)?.id, 'later');
    assert.equal(p.running.at(-1)?.standing, 'works');
  });
});

suite('a stall of this process', () => {
  test('is not taken for receivers that hang: each turn of the event loop counts for a tenth of a second', async (t) => {
    const p = play(t, { maxInFlight: 100 });
    await p.prove('dst_good');
    p.offer('d0', { destinationId: 'dst_good' });
    p.offer('d1', { destinationId: 'dst_new' });
    for (let stall = 0; stall < 2; stall += 1) {
      p.clock.now += 5_000;
      await p.pass(50);
    }
    assert.equal(p.dispatcher.late(), 0, 'their answers may be there, unread');
    p.offer('d2', { destinationId: 'dst_good' });
    assert.equal(p.running.at(-1)?.standing, 'works');
    await p.pass(300);
    assert.equal(p.dispatcher.late(), 3);
  });

  test('is not mistaken for silence: after a quiet hour a receiver is not one that answered lately', async (t) => {
    const p = play(t, { maxInFlight: 80 });
    await p.prove('dst_quiet');
    await p.pass(100);
    p.clock.now += 3_600_000;
    for (const id of names(100, 112)) p.offer(id, { destinationId: `dst_${id}` });
    for (const id of names(0, 3)) p.offer(id, { destinationId: 'dst_quiet' });
    assert.equal(p.running.filter(({ destinationId }) => destinationId === 'dst_quiet').length, 1);
  });
});

suite('a receiver that worked lately', () => {
  test('is known by what other processes learned, from its first attempt on', (t) => {
    const p = play(t, { worked: ['dst_quiet'] });
    p.offer('d0', { destinationId: 'dst_quiet' });
    p.offer('d1', { destinationId: 'dst_new' });
    assert.deepEqual(
      p.running.map(({ standing }) => standing),
      ['works', 'unknown'],
    );
  });

  test('is told to the others when it took a delivery, and not when it failed', async (t) => {
    const p = play(t);
    for (const destinationId of ['dst_good', 'dst_bad', 'dst_refusing']) p.offer('d', { destinationId });
    await p.running[0]?.end();
    await p.running[0]?.end(status(500));
    await p.running[0]?.end(status(410));
    assert.deepEqual([...p.noted], ['dst_good', 'dst_refusing']);
  });

  test('finds slots however many unknown receivers there are', (t) => {
    const p = play(t, { maxInFlight: 10, worked: ['dst_quiet'] });
    for (const id of names(0, 30)) p.offer(id, { destinationId: `dst_${id}` });
    p.offer('quiet', { destinationId: 'dst_quiet' });
    assert.equal(p.running.at(-1)?.id, 'quiet');
  });
});
