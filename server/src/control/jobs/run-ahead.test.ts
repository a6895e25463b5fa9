import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRunAhead } from './run-ahead.ts';

/** How full a lane is after a while that drains at this rate and is fed ten times a second. */
function play(perSecond: number, seconds: number): { most: number; done: number } {
  let nowMs = 0;
  const ahead = openRunAhead(() => nowMs);
  let [untried, most, done, credit] = [0, 0, 0, 0];
  for (; nowMs < seconds * 1_000; nowMs += 100) {
    const room = ahead.room(untried);
    ahead.fed(room);
    untried += room;
    credit += perSecond / 10;
    const left = Math.min(untried, Math.floor(credit));
    credit -= Math.floor(credit);
    untried -= left;
    done += left;
    if (nowMs > (seconds * 1_000) / 2) most = Math.max(most, untried);
  }
  return { most, done };
}

test('a slow lane holds little, so that a cancel is heard soon', () => {
  assert.ok(play(3, 60).most <= 4, `${play(3, 60).most} groups`);
});

test('a fast lane is never kept waiting for long', () => {
  const { done, most } = play(15, 60);
  assert.ok(done > 15 * 60 * 0.9, `${done} groups in a minute`);
  assert.ok(most <= 20, `${most} groups`);
});

test('a lane that stands still gets nothing more', () => {
  const ahead = openRunAhead(() => 0);
  assert.equal(ahead.room(20), 0);
});

test('a lane that others keep filling does not stop a replay', () => {
  let nowMs = 0;
  const ahead = openRunAhead(() => nowMs);
  let fed = 0;
  for (; nowMs < 10_000; nowMs += 100) {
    const room = ahead.room(6);
    ahead.fed(room);
    fed += room;
  }
  assert.ok(fed >= 5, `${fed} groups in ten seconds`);
});
