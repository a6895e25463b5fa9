import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { suite, test } from 'node:test';
import { NO_RECORD, openByteTable } from './byte-table.ts';

const SLAB = 4_096;
const KEYS = 400;

suite('a table of bytes', () => {
  test('says what a map says, whatever comes, goes and changes', () => {
    const table = openByteTable(SLAB);
    const wanted = new Map<string, string>();
    for (let step = 0; step < 20_000; step += 1) {
      const key = `kéy_${randomInt(KEYS)}`;
      if (randomInt(3) === 0) {
        wanted.delete(key);
        table.remove(key);
      } else {
        // Some are longer than a slab.
        const text = `${step}ü`.repeat(randomInt(step % 100 === 0 ? 2_000 : 40));
        wanted.set(key, text);
        table.put(key, text);
      }
      if (step % 500 === 0) agrees(wanted, table);
    }
    agrees(wanted, table);
  });

  test('keeps the number of a record until its key is removed', () => {
    const table = openByteTable(SLAB);
    const first = table.put('a', '1');
    table.put('b', '2');
    for (let round = 0; round < 1_000; round += 1) assert.equal(table.put('a', `text ${round}`), first);
    assert.equal(table.keyOf(first), 'a');
    table.remove('a');
    assert.equal(table.find('a'), NO_RECORD);
    assert.equal(table.put('c', '3'), first, 'a number that is free is used again');
    assert.equal(table.textOf(table.find('b')), '2');
  });

  test('gives back the room of texts that were replaced, also beside some that never change', () => {
    const table = openByteTable(SLAB);
    const liveBytes = 200 * 128;
    for (let nth = 0; nth < 200; nth += 1) table.put(`key_${nth}`, 'x'.repeat(100));
    for (let round = 0; round < 50; round += 1) {
      for (let nth = 0; nth < 200; nth += 7) table.put(`key_${nth}`, `${round}`.padEnd(100));
    }
    assert.ok(table.slabBytes() < liveBytes * 1.5 + 2 * SLAB, `${table.slabBytes()} bytes for ${liveBytes}`);
  });
});

function agrees(wanted: ReadonlyMap<string, string>, table: ReturnType<typeof openByteTable>): void {
  assert.equal(table.size(), wanted.size);
  for (let nth = 0; nth < KEYS; nth += 1) {
    const key = `kéy_${nth}`;
    const record = table.find(key);
    assert.equal(record === NO_RECORD ? undefined : table.textOf(record), wanted.get(key));
    if (record !== NO_RECORD) assert.equal(table.keyOf(record), key);
  }
}
