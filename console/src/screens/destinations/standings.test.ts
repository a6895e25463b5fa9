import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Destination } from '@millrace/contract/control';
import type { Told } from '../../parts/destination/health/tell-health.ts';
import { barsOf } from './bars.ts';
import { choose, leadOf, rowEveryMs, type Standing } from './standings.ts';

test('a filter looks into names and URLs, and trouble comes first', () => {
  const all = [standing('CRM sync', 'delivered', 'Healthy'), standing('Orders to ERP', 'givenup', 'Failing')];
  assert.deepEqual(names(choose(all, { filter: '', state: '' })), ['Orders to ERP', 'CRM sync']);
  assert.deepEqual(names(choose(all, { filter: 'erp', state: '' })), ['Orders to ERP']);
  assert.deepEqual(names(choose(all, { filter: 'HOOKS.', state: 'delivered' })), ['CRM sync']);
  assert.deepEqual(choose(all, { filter: '', state: 'paused' }), []);
});

test('the sentence names the destinations that need somebody', () => {
  const all = [standing('CRM sync', 'delivered', 'Healthy'), standing('Orders to ERP', 'givenup', 'Failing')];
  assert.equal(leadOf(all, false).state?.words, '1 of 2 destinations needs you:');
  assert.equal(leadOf(all, false).sentence, 'Orders to ERP (failing).');
  assert.equal(leadOf(all.slice(0, 1), false).state?.words, 'Your destination is well.');
});

test('a destination where nothing arrives is not well', () => {
  const retrying = standing('CRM sync', 'retrying', 'Retrying');
  const lead = leadOf([standing('Orders to ERP', 'delivered', 'Healthy'), retrying], false);
  assert.deepEqual(lead.state, { name: 'retrying', words: '1 of 2 destinations needs you:' });
  assert.equal(lead.sentence, 'CRM sync (retrying).');
  const both = leadOf([retrying, standing('Orders to ERP', 'givenup', 'Failing')], false);
  assert.equal(both.state?.name, 'givenup');
  assert.equal(both.sentence, 'Orders to ERP (failing) and CRM sync (retrying).');
});

test('the sentence is about the pages that were read', () => {
  const well = [standing('CRM sync', 'delivered', 'Healthy'), standing('Orders to ERP', 'delivered', 'Healthy')];
  assert.equal(leadOf(well, false).state?.words, 'All 2 destinations are well.');
  assert.equal(leadOf(well, true).state?.words, 'The first 2 destinations are well.');
  const failing = [...well, standing('Mail', 'givenup', 'Failing')];
  assert.equal(leadOf(failing, true).state?.words, '1 of the first 3 destinations needs you:');
  const paused = [...well, standing('Mail', 'paused', 'Paused')];
  assert.equal(leadOf(paused, true).state?.words, 'None of the first 3 destinations fails.');
});

test('the rows of a long list are read once a minute', () => {
  assert.equal(rowEveryMs(20, 15_000), 15_000);
  assert.equal(rowEveryMs(21, 15_000), 60_000);
});

test('a bar is one hour, and only trouble has a colour', () => {
  const from = Date.parse('2026-11-17T00:00:00Z');
  const point = { at: '2026-11-17T02:00:00Z', delivered: 5, retry: 1, discarded: 2, expired: 0, skipped: 9 };
  const bars = barsOf([point], from);
  assert.equal(bars.length, 24);
  assert.deepEqual(bars[2], { value: 8, trouble: 'givenup' });
  assert.deepEqual(bars[3], { value: 0 });
});

const names = (found: readonly Standing[]) => found.map(({ destination }) => destination.name);

function standing(name: string, state: Told['state'], word: string): Standing {
  const destination = { id: 'dst_1', name, settings: { targets: [{ url: 'https://hooks.example' }] } };
  return {
    destination: destination as unknown as Destination,
    health: undefined,
    told: { state, word, lead: '', sentence: '', todo: '' },
  };
}
