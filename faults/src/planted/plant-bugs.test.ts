import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { FAULTS } from '../catalog.ts';
import { PLANTED_BUGS } from './all-bugs.ts';
import { withBug } from './plant-bugs.ts';
import { isTestFile } from './planted-bug.ts';

suite('the planted bugs', () => {
  test('are at least 25, each with a name of its own', () => {
    assert.ok(PLANTED_BUGS.length >= 25);
    assert.equal(new Set(PLANTED_BUGS.map(({ name }) => name)).size, PLANTED_BUGS.length);
  });

  for (const bug of PLANTED_BUGS)
    test(`can be planted: ${bug.name}`, () => {
      const source = readFileSync(join(ROOT_DIR, bug.file), 'utf8');
      assert.notEqual(withBug(source, bug), source);
      assert.ok(isTestFile(bug.check) ? existsSync(join(ROOT_DIR, bug.check)) : FAULTS.has(bug.check), bug.check);
    });

  test('are refused when their text is gone, or there twice', () => {
    const bug = { name: 'bug', imitates: '', file: 'x.ts', text: 'a < b', replacement: 'a <= b', check: '' };
    assert.equal(withBug('if (a < b)', bug), 'if (a <= b)');
    assert.throws(() => withBug('if (a > b)', bug), /bug: its text is not in x\.ts/);
    assert.throws(() => withBug('a < b, a < b', bug), /its text is 2 times in x\.ts/);
  });
});
