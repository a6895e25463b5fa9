import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
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

  test('has a row for every fault, and each fault says what it injects and checks', () => {
    for (const { fault, covers, against, invariants } of listFaults())
      for (const part of [covers, against, invariants]) assert.ok(part.length > 0, fault);
  });
});
