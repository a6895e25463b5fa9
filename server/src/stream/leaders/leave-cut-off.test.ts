import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPatience } from './leave-cut-off.ts';

function unansweredUntilOver(patience: ReturnType<typeof openPatience>): number {
  for (let unanswered = 1; ; unanswered += 1) if (patience.isOver(false)) return unanswered;
}

test('a connection that finds no leader at any server moves ever more rarely, and at once again after an answer', () => {
  const patience = openPatience();
  const waits = Array.from({ length: 5 }, () => unansweredUntilOver(patience));
  assert.deepEqual(waits, [5, 10, 20, 30, 30]);
  patience.isOver(true);
  assert.equal(unansweredUntilOver(patience), 5);
});

test('an answer in between begins the silence anew', () => {
  const patience = openPatience();
  for (let silent = 0; silent < 4; silent += 1) assert.equal(patience.isOver(false), false);
  assert.equal(patience.isOver(true), false);
  assert.equal(unansweredUntilOver(patience), 5);
});
