import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Source } from '@millrace/contract/control';
import { lastUse, matching, mostFrequent, sourceRows } from './source-rows.ts';

const key = (lastUsedAt: string | null) => ({ id: 'key_1', key: 'wk_1', label: '', createdAt: '', lastUsedAt });
const source = (id: string, name: string): Source => ({
  id,
  kind: 'collected',
  name,
  enabled: true,
  rateLimitPerSecond: null,
  cell: 'main',
  writeKeys: [key(null), key('2026-11-17T10:00:00.000Z'), key('2026-11-16T10:00:00.000Z')],
  projection: { state: 'applied', since: null, why: null },
  createdAt: '',
  updatedAt: '',
});
const sources = [source('src_1', 'Web shop'), source('src_2', 'Mobile app')];
const refusal = (code: string, count: number) => ({ day: '2026-11-17', code, count, lastAt: '', samples: [] });

suite('the list of sources', () => {
  test('takes the latest use of any key as the last call', () => {
    assert.equal(lastUse(sources[0] as Source), '2026-11-17T10:00:00.000Z');
  });

  test('tells what is not known from what is zero', () => {
    const [first] = sourceRows({ sources, usage: undefined, refusals: new Map(), destinations: undefined });
    assert.deepEqual([first?.calls, first?.refused, first?.destinations], [undefined, undefined, undefined]);
    const usage = { month: '2026-11', calls: 0, sources: [] };
    const [known] = sourceRows({ sources, usage, refusals: new Map([['src_1', { items: [] }]]), destinations: [] });
    assert.deepEqual([known?.calls, known?.refused, known?.destinations], [0, 0, []]);
  });

  test('adds up the refusals of all days, and names the most frequent reason', () => {
    const items = [refusal('too_deep', 3), refusal('id_required', 2), refusal('id_required', 2)];
    assert.equal(mostFrequent({ items }), 'id_required');
    const [first] = sourceRows({
      sources,
      usage: undefined,
      refusals: new Map([['src_1', { items }]]),
      destinations: [],
    });
    assert.equal(first?.refused, 7);
  });

  test('is filtered by part of a name or a whole id', () => {
    const rows = sourceRows({ sources, usage: undefined, refusals: new Map(), destinations: [] });
    assert.deepEqual(
      ['SHOP', 'src_2', 'src_'].map((filter) => matching(rows, filter).length),
      [1, 1, 0],
    );
  });
});
