import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isFirstOf } from './hear-processes.ts';

const process = (id: string, role: string) => ({ id, roles: [role], version: '1.0.0', startedAt: '' });

suite('the first process of a role', () => {
  test('is one of those that are heard', () => {
    const heard = [process('b', 'control'), process('a', 'deliver'), process('c', 'control')];
    assert.deepEqual(
      ['b', 'c'].map((self) => isFirstOf('control', self, heard)),
      [true, false],
    );
    assert.equal(isFirstOf('control', 'c', heard.slice(1)), true, 'the one before is gone');
  });

  test('is each of them while they cannot hear each other, so that the work is done', () => {
    assert.equal(isFirstOf('control', 'c', undefined), true);
    assert.equal(isFirstOf('control', '', [process('a', 'control')]), true);
  });
});
