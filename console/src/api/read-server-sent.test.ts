import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openServerSentReader } from './read-server-sent.ts';

suite('server-sent events', () => {
  test('are read whole, wherever the pieces end', () => {
    const text =
      'event: open\ndata: {"kind":"open"}\n\n: still here\n\nevent: accepted\ndata: {"kind":"accepted","name":"a\\nb"}\n\n';
    for (const size of [1, 7, 1_000]) {
      const read = openServerSentReader();
      const found: unknown[] = [];
      for (let at = 0; at < text.length; at += size) found.push(...read(text.slice(at, at + size)));
      assert.deepEqual(found, [{ kind: 'open' }, { kind: 'accepted', name: 'a\nb' }]);
    }
  });

  test('that hold no JSON are left out', () => {
    assert.deepEqual(openServerSentReader()('data: {"kind":\n\ndata: {"kind":"end"}\n\n'), [{ kind: 'end' }]);
  });
});
