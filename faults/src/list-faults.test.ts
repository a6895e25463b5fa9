import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { listFaults, listRows } from './list-faults.ts';

suite('the matrix of faults', () => {
  for (const { row, words, faults, test: tested, open } of listRows())
    test(`has a fault, a test or a reason for: ${words}`, () => {
      const isInjected = faults.length > 0 || tested !== undefined;
      assert.notEqual(isInjected, open !== undefined, `${row} needs a fault that covers it, or a reason why none does`);
      if (tested !== undefined) assert.ok(readFileSync(join(ROOT_DIR, tested.file), 'utf8').includes(tested.test), row);
    });

  test('has a row for every fault, and each fault says what it injects and checks', () => {
    for (const { fault, covers, against, invariants } of listFaults())
      for (const part of [covers, against, invariants]) assert.ok(part.length > 0, fault);
  });
});
