import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { keepRecent } from './keep-recent.ts';

/** A cache over answers that come in this order, and its clock. */
function openBench(...answers: (number | Error | Promise<number>)[]) {
  const clock = { now: 0 };
  let asked = 0;
  const ask = async () => {
    const answer = answers[asked];
    asked += 1;
    if (answer instanceof Error || answer === undefined) throw answer ?? new Error('asked too often');
    return answer;
  };
  return { recent: keepRecent(ask, () => clock.now), clock, asked: () => asked };
}

suite('a recent answer', () => {
  test('serves callers for 15 seconds', async () => {
    const { recent, clock, asked } = openBench(1, 2);
    assert.deepEqual([await recent(), await recent(), asked()], [1, 1, 1]);
    clock.now = 15_000;
    assert.deepEqual([await recent(), asked()], [2, 2]);
  });

  test('is forgotten when the next question fails, and comes back with the next answer', async () => {
    const { recent, clock } = openBench(1, new Error('NATS is away'), 3);
    assert.equal(await recent(), 1);
    clock.now = 15_000;
    assert.equal(await recent(), undefined);
    clock.now = 30_000;
    assert.equal(await recent(), 3);
  });

  test('stands in for a late answer, unless it is a minute old', async () => {
    const never = new Promise<number>(() => undefined);
    const { recent, clock } = openBench(1, never);
    assert.equal(await recent(), 1);
    clock.now = 15_000;
    assert.equal(await recent(), 1);
    clock.now = 60_000;
    assert.equal(await recent(), undefined);
  });
});
