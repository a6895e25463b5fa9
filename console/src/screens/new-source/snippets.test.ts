import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SNIPPETS, snippetNamed } from './snippets.ts';

const place = { url: 'https://events.example.com', writeKey: 'wk_test_1' };

suite('snippets', () => {
  test('hold the address and the write key', () => {
    for (const { name, code } of SNIPPETS) {
      assert.ok(code(place).includes(place.url), name);
      assert.ok(code(place).includes(place.writeKey), name);
    }
  });

  test('show a change that is in their code', () => {
    for (const { name, change, code } of SNIPPETS)
      if (change !== undefined) assert.ok(code(place).includes(change(place)), name);
  });

  test('have keys of their own, and an unknown key is the first', () => {
    assert.equal(new Set(SNIPPETS.map(({ key }) => key)).size, SNIPPETS.length);
    assert.equal(snippetNamed('no such').key, 'node');
    assert.equal(snippetNamed('curl').key, 'curl');
  });
});
