import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fullWorkspaces, slotToGive, SLOTS } from './job-slots.ts';

const slot = (workspaceId: string, since: number) => ({ workspaceId, since });

suite('job slots', () => {
  test('of deletion requests are taken by nothing else', () => {
    const [deletions, ...others] = SLOTS;
    assert.deepEqual(deletions?.kinds, ['deletion']);
    assert.ok(others.every(({ kinds }) => !kinds.includes('deletion')));
  });

  test('are limited for each workspace', () => {
    const plan = { kinds: [], atOnce: 4, perWorkspace: 2, steps: 1 };
    assert.deepEqual(fullWorkspaces([slot('a', 0), slot('a', 1), slot('b', 2)], plan), ['a']);
  });

  test('are given back by the workspace with the most, the longest held first', () => {
    const held = [slot('a', 300), slot('b', 0), slot('a', 100), slot('a', 200)];
    assert.equal(slotToGive(held, 60_000), held[2]);
    assert.equal(slotToGive(held, 1_000), undefined, 'not before its job has got anywhere');
    assert.equal(slotToGive([], 60_000), undefined);
  });
});
