import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ChainEntry, checkExport, FIRST_HASH, hashOfEntry } from './audit-chain.ts';

function chain(count: number): ChainEntry[] {
  const entries: ChainEntry[] = [];
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const previousHash = entries.at(-1)?.hash ?? FIRST_HASH;
    const at = new Date(sequence).toISOString();
    const entry = { sequence, at, actor: { kind: 'user', id: 'usr_1' }, action: 'a.b', objectId: 'o', previousHash };
    const whole = { ...entry, details: { b: 1, a: [{ z: 1, y: 2 }] } };
    entries.push({ ...whole, hash: hashOfEntry('ws_1', whole) });
  }
  return entries;
}

const HEAD = { kind: 'millrace-audit-log', version: 1, workspaceId: 'ws_1', exportedAt: '2026-01-01T00:00:00.000Z' };

function linesOf(entries: readonly object[], count = entries.length, last = entries.at(-1)): string[] {
  const end = { kind: 'end', entries: count, hash: last !== undefined && 'hash' in last ? last.hash : FIRST_HASH };
  return [HEAD, ...entries, end].map((line) => JSON.stringify(line));
}

async function whyBroken(lines: readonly string[]): Promise<string> {
  const checked = await checkExport(lines);
  return checked.kind === 'broken' ? `${checked.line} ${checked.why}` : checked.kind;
}

suite('an exported audit log', () => {
  test('holds as it was written, also with its keys in another order and without an entry', async () => {
    const entries = chain(3);
    const checked = await checkExport(linesOf(entries));
    assert.deepEqual(checked, { ...checked, kind: 'holds', entries: 3, hash: entries[2]?.hash, workspaceId: 'ws_1' });
    const turned = entries.map((entry) => Object.fromEntries(Object.entries(entry).toReversed()));
    assert.equal(await whyBroken(linesOf(turned, 3, entries[2])), 'holds');
    assert.equal(await whyBroken(linesOf([])), 'holds');
    assert.equal(await whyBroken([...linesOf(entries), '']), 'holds');
  });

  test('shows every change of an entry', async () => {
    for (const change of [
      { action: 'c.d' },
      { objectId: 'other' },
      { at: '2020-01-01T00:00:00.000Z' },
      { actor: { kind: 'user', id: 'usr_2' } },
      { details: {} },
      { hash: 'f'.repeat(64) },
      { previousHash: 'f'.repeat(64) },
    ]) {
      const entries: object[] = chain(3);
      entries[1] = { ...entries[1], ...change };
      assert.equal(await whyBroken(linesOf(entries)), '3 an entry was changed', JSON.stringify(change));
    }
  });

  test('shows an entry that was taken out, moved or doubled, and a log of another workspace', async () => {
    const [one, two, three] = chain(3) as [ChainEntry, ChainEntry, ChainEntry];
    assert.equal(await whyBroken(linesOf([one, three])), '3 an entry is missing');
    assert.equal(await whyBroken(linesOf([one, three, two])), '3 an entry is missing');
    assert.equal(await whyBroken(linesOf([one, one])), '3 an entry is missing');
    assert.equal(await whyBroken(linesOf([two, three])), '2 an entry is missing');
    const lines = linesOf([one]).with(0, JSON.stringify({ ...HEAD, workspaceId: 'ws_2' }));
    assert.equal(await whyBroken(lines), '2 an entry was changed');
  });

  test('shows a file that was cut off, and one that is none', async () => {
    const lines = linesOf(chain(3));
    assert.equal(await whyBroken(lines.slice(0, -1)), '4 the file was cut off: its last line is missing');
    assert.equal(await whyBroken(lines.toSpliced(3, 1)), '4 entries at the end are missing');
    assert.equal(await whyBroken([...lines, lines[1] ?? '']), '6 there are lines after the end');
    assert.equal(await whyBroken([]), '0 the file is empty');
    assert.equal(await whyBroken(['{}']), '1 the file is no export of an audit log');
    assert.equal(await whyBroken(['x']), '1 the line is not JSON');
    assert.equal(
      await whyBroken([JSON.stringify({ ...HEAD, version: 2 })]),
      '1 a newer version of Millrace wrote the file',
    );
  });
});
