import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Condition, Definition } from '@millrace/contract/audiences';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';
import { completenessOf, completenessOfAsked } from './completeness.ts';

const audience = (when: Condition): Definition => ({ kind: 'audience', name: 'A', when });
const asks = (id: string) => audience({ any: [{ not: { audience: id } }, { event: 'E', atLeast: 1 }] });
const day = (date: number) => new Date(Date.UTC(2026, 0, date));

function known(id: string, body: Definition, fields: Partial<KnownDefinition> = {}): KnownDefinition {
  const row = { workspace_id: 'ws_1', id, number: 1, kind: 'audience', key: id, name: id } as const;
  const others = {
    destinations: [],
    complete_from: null,
    incomplete_since: null,
    created_at: day(1),
    updated_at: day(1),
  };
  const version = { definition: 1, version: 1, body, measures: [], state: 'live' } as const;
  return { ...row, ...others, state: 'live', versions: [version], ...fields };
}

suite('a definition that asks for another audience', () => {
  const plain = audience({ event: 'E', atLeast: 1 });
  const far = known('aud_1', plain, { complete_from: day(9), incomplete_since: day(12) });
  const near = known('aud_2', asks('aud_1'), { complete_from: day(5), incomplete_since: day(20) });
  const own = known('aud_3', asks('aud_2'), { complete_from: day(2) });
  const other = known('aud_4', plain, { complete_from: day(25), incomplete_since: day(3) });
  const all = [far, near, own, other];

  test('is complete no earlier than that one, over however many of them', () => {
    assert.deepEqual(completenessOf(own, all), { completeFrom: day(9), incompleteSince: day(12) });
    assert.deepEqual(completenessOf(near, all), { completeFrom: day(9), incompleteSince: day(12) });
    assert.deepEqual(completenessOf(far, all), { completeFrom: day(9), incompleteSince: day(12) });
  });

  test('is complete no earlier also before it is stored', () => {
    assert.deepEqual(completenessOfAsked(asks('aud_2'), all).completeFrom, day(9));
    assert.deepEqual(completenessOfAsked(plain, all).completeFrom, null);
  });
});
