import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPath } from './own-path.ts';

test('sign-in only leads to a path of this console', () => {
  assert.equal(ownPath('/destinations?state=failing#latest'), '/destinations?state=failing#latest');
  const others = [undefined, '', '//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)'];
  assert.deepEqual(new Set(others.map(ownPath)), new Set(['/']));
  assert.equal(ownPath('/sign-in?back=/x'), '/');
});

test('sign-in reads a path as browsers do, which drop tabs and line breaks and resolve dots', () => {
  for (const path of [
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r\\evil.example',
    '/.//evil.example',
    '/x/../sign-in',
  ]) {
    assert.equal(ownPath(path), '/', JSON.stringify(path));
  }
});
