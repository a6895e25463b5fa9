import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Projector } from '../projection/project-config.ts';
import { NO_REMOVALS } from '../projection/repair-config.ts';
import { joinProjectors } from './join-projectors.ts';

/** A projector whose bucket equals PostgreSQL. */
function projector(): Projector {
  return {
    changed() {},
    settled: async () => true,
    removals: { waiting: () => NO_REMOVALS, confirm: async () => 0 },
    async [Symbol.asyncDispose]() {},
  };
}

suite('the projectors of all cells', () => {
  test('are settled when a cell that was away is there and settled too', async () => {
    const cells: (Projector | undefined)[] = [undefined];
    await using joined = joinProjectors(projector(), () => cells);
    const settled = joined.settled();
    cells[0] = projector();
    assert.equal(await settled, true);
  });

  test('are not settled at their end', async () => {
    const joined = joinProjectors(projector(), () => [undefined]);
    const settled = joined.settled();
    await joined[Symbol.asyncDispose]();
    assert.equal(await settled, false);
  });
});
