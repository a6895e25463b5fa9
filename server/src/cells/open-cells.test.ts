import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isUsable } from './open-cells.ts';

suite('the configuration in a cell', () => {
  test('is not used while its cluster has no majority, although collect is connected to it', () => {
    const cell = (isConnected: boolean, isAvailable: boolean) => ({
      isConnected: () => isConnected,
      isAvailable: () => isAvailable,
    });
    assert.equal(isUsable(cell(true, true)), true);
    assert.equal(isUsable(cell(true, false)), false);
    assert.equal(isUsable(cell(false, true)), false);
    assert.equal(isUsable(undefined), false);
  });
});
