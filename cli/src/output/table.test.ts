import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableLines } from './table.ts';
import { cutTo, widthOf } from './width.ts';

type Row = { id: string; name: string; count: number };
const COLUMNS = [
  { title: 'ID', of: ({ id }: Row) => id, isWhole: true as const },
  { title: 'NAME', of: ({ name }: Row) => name },
  { title: 'COUNT', of: ({ count }: Row) => String(count), isNumber: true as const },
];

test('a table fits the terminal, and ids are never cut', () => {
  const rows = [
    { id: 'src_01a1e4e57d147e269ec040273c80cf87', name: 'A long name of a source that nobody shortened', count: 7 },
  ];
  const lines = tableLines(COLUMNS, rows, 60);
  assert.deepEqual(lines.map(widthOf), [60, 60]);
  assert.match(lines[1] ?? '', /^src_01a1e4e57d147e269ec040273c80cf87 {2}A long name of… +7$/);
  assert.match(tableLines(COLUMNS, rows)[1] ?? '', /nobody shortened/);
});

test('a cell cannot break out of its line', () => {
  const [, line] = tableLines(COLUMNS, [{ id: 'src_1', name: 'a\nb\tc\u001b[2J', count: 1 }]);
  assert.match(line ?? '', /^src_1 {2}a\\nb\\tc\\u001b\[2J {2,}1$/);
});

test('wide characters take two columns', () => {
  assert.equal(widthOf('日本'), 4);
  assert.equal(widthOf('e\u0301'), 1);
  assert.equal(cutTo('日本語のイベント', 6), '日本…');
});
