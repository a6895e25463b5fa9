import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openTurns } from './turns.ts';

const ANY = { key: () => true, item: () => true };

function open() {
  const turns = openTurns<string, string, string>();
  const add = (key: string, line: string, ...items: string[]) => {
    for (const item of items) turns.add({ key, line }, item);
  };
  return { turns, add };
}

suite('turns', () => {
  test('go round the keys, however many items one of them has', () => {
    const { turns, add } = open();
    add('a', 'x', 'a1', 'a2', 'a3', 'a4');
    add('b', 'x', 'b1');
    add('c', 'x', 'c1');
    assert.deepEqual(
      Array.from({ length: 7 }, () => turns.next(ANY)),
      ['a1', 'b1', 'c1', 'a2', 'a3', 'a4', undefined],
    );
  });

  test('go round the lines of a key, so that a long one does not hold up a short one', () => {
    const { turns, add } = open();
    add('a', 'large', 'l1', 'l2', 'l3');
    add('a', 'small', 's1', 's2');
    assert.deepEqual(
      Array.from({ length: 5 }, () => turns.next(ANY)),
      ['l1', 's1', 'l2', 's2', 'l3'],
    );
  });

  test('skip keys and lines that may not go, and keep them', () => {
    const { turns, add } = open();
    add('a', 'large', 'l1');
    add('a', 'small', 's1');
    add('b', 'small', 'b1');
    assert.equal(turns.next({ key: (key) => key !== 'a', item: () => true }), 'b1');
    assert.equal(turns.next({ key: () => true, item: (item) => item === 's1' }), 's1');
    assert.equal(turns.next({ key: () => true, item: () => false }), undefined);
    assert.deepEqual([turns.size(), turns.clear(), turns.size()], [1, ['l1'], 0]);
  });
});
