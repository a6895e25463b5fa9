import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeTurns } from './judge-turns.ts';

const GOAL = 1.05;
const turns = (quiet: readonly number[], ratio: number) => quiet.map((cpu) => ({ quiet: cpu, watched: cpu * ratio }));

test('looking on that costs next to nothing is within the goal, however noisy the machine is', () => {
  assert.equal(judgeTurns(turns([0.2, 0.3, 0.2, 0.3], 1.02), GOAL).verdict, 'within the goal');
});

test('looking on that costs more than equal turns differ by is above the goal', () => {
  const judged = judgeTurns(turns([0.2, 0.202, 0.2, 0.201], 1.2), GOAL);
  assert.equal(judged.verdict, 'above the goal');
  assert.equal(judged.ratio, 1.2);
});

test('a difference that two equal turns have as well says nothing', () => {
  assert.equal(judgeTurns(turns([0.2, 0.26, 0.2, 0.26], 1.2), GOAL).verdict, 'too noisy to say');
});
