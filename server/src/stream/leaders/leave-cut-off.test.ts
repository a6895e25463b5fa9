import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPatience } from './leave-cut-off.ts';

/** Each question takes a second; the next one follows after `gapMs`. */
function asking(gapMs: number) {
  let now = 0;
  const patience = openPatience(() => now);
  const ask = (hasAnswered: boolean) => {
    const askedAt = now;
    now += 1_000;
    const isOver = patience.isOver(hasAnswered, askedAt);
    now += gapMs - 1_000;
    return isOver;
  };
  return {
    ask,
    unansweredUntilOver() {
      for (let unanswered = 1; ; unanswered += 1) if (ask(false)) return unanswered;
    },
  };
}

test('a connection that finds no leader at any server moves ever more rarely, and at once again after an answer', () => {
  const { ask, unansweredUntilOver } = asking(2_000);
  assert.deepEqual(Array.from({ length: 5 }, unansweredUntilOver), [5, 10, 20, 30, 30]);
  ask(true);
  assert.equal(unansweredUntilOver(), 5);
});

test('an answer in between begins the silence anew', () => {
  const { ask, unansweredUntilOver } = asking(2_000);
  for (let silent = 0; silent < 4; silent += 1) assert.equal(ask(false), false);
  assert.equal(ask(true), false);
  assert.equal(unansweredUntilOver(), 5);
});

test('questions that follow each other quickly do not end the patience within an election', () => {
  assert.equal(asking(1_500).unansweredUntilOver(), 6);
});
