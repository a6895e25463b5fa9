import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isFirstOf, isFirstOfVersion } from './hear-processes.ts';

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

  test('of its version does not leave work to one of another version, which may not know the work', () => {
    const heard = [{ ...process('a', 'control'), version: '0.9.0' }, process('b', 'control'), process('c', 'control')];
    assert.deepEqual(
      ['a', 'b', 'c'].map((self) => isFirstOfVersion('control', self, heard)),
      [true, true, false],
    );
    assert.equal(isFirstOfVersion('control', 'd', heard), true, 'not heard itself');
    assert.equal(isFirstOfVersion('control', 'c', undefined), true);
  });

  test('is each of them while they cannot hear each other, so that the work is done', () => {
    assert.equal(isFirstOf('control', 'c', undefined), true);
    assert.equal(isFirstOf('control', '', [process('a', 'control')]), true);
  });
});
