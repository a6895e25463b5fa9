import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPath } from './own-path.ts';

test('sign-in only leads to a path of this console', () => {
  assert.equal(ownPath('/destinations?state=failing'), '/destinations?state=failing');
  const others = [undefined, '', '//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)'];
  assert.deepEqual(new Set(others.map(ownPath)), new Set(['/']));
  assert.equal(ownPath('/sign-in?back=/x'), '/');
});
