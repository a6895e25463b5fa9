import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { GRID } from './catalog/grid.ts';
import { listFaults, listRows } from './list-faults.ts';

suite('the matrix of faults', () => {
  for (const { row, words, faults, test: tested } of listRows())
    test(`has a fault or a test for: ${words}`, () => {
      assert.ok(
        faults.length > 0 || tested !== undefined,
        `${row} needs a fault that covers it, or a test that injects it`,
      );
      if (tested !== undefined) assert.ok(readFileSync(join(ROOT_DIR, tested.file), 'utf8').includes(tested.test), row);
    });

  test('names only faults that are against the process of their column', () => {
    const against = new Map(listFaults().map((each) => [each.fault, each.against]));
    for (const cells of Object.values(GRID))
      for (const [victim, cell] of Object.entries<readonly string[] | string>(cells))
        for (const fault of typeof cell === 'string' ? [] : cell)
          assert.ok(against.get(fault)?.includes(victim), `${fault} is not against ${victim}`);
  });

  test('has a row for every fault, and each fault says what it injects and checks', () => {
    for (const { fault, covers, against, invariants } of listFaults())
      for (const part of [covers, against, invariants]) assert.ok(part.length > 0, fault);
  });
});
