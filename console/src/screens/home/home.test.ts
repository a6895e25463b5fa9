import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Attention } from '@millrace/contract/control';
import { countStates, splitAtName } from './attention.ts';
import { headlineOf, thenOf } from './headline.ts';
import { stepsOf } from './get-started.ts';

const failing: Attention = {
  kind: 'destination_failing',
  severity: 'critical',
  sentence: '"Orders "to" ERP" has been failing.',
  nextStep: '',
  destinationId: 'dst_1',
  sourceId: 'src_1',
};
const letters: Attention = {
  ...failing,
  kind: 'dead_letters',
  sentence: '2 dead letters of "Orders "to" ERP" wait.',
};
const refusals: Attention = {
  kind: 'source_refusals',
  severity: 'warning',
  sentence: 'Source "Mobile" had 38 calls refused.',
  nextStep: '',
  sourceId: 'src_2',
};

suite('the headline of home', () => {
  test('counts a destination once and names two things', () => {
    assert.deepEqual(headlineOf([failing, letters, refusals], 7), {
      title: '1 of 7 destinations needs attention: ',
      phrases: [
        { name: 'Orders "to" ERP', words: 'is failing' },
        { name: 'Mobile', words: 'sends calls that Millrace refuses' },
      ],
      more: 0,
    });
  });

  test('says what is well when nothing needs attention', () => {
    assert.match(headlineOf([], 7).title, /^All 7 destinations/);
    assert.match(headlineOf([], 0).title, /No destination/);
    assert.match(headlineOf([refusals], 7).title, /^1 source needs attention/);
  });

  test('says what waits and what is kept', () => {
    const tiles = { waiting: 0, deadLetters: 0 } as Parameters<typeof thenOf>[0];
    assert.match(thenOf(tiles), /No delivery waits/);
    assert.match(thenOf({ ...tiles, deadLetters: 1 }), /one is a dead letter/);
    assert.match(thenOf({ ...tiles, waiting: 1_612, deadLetters: 3 }), /1,612 deliveries wait, 3 are dead letters/);
  });
});

suite('a trouble', () => {
  test('is split at its quoted name, whatever the name holds', () => {
    assert.deepEqual(splitAtName(letters.sentence, 'Orders "to" ERP'), [
      '2 dead letters of ',
      'Orders "to" ERP',
      ' wait.',
    ]);
    assert.deepEqual(splitAtName('Nothing here.', 'x'), ['', '', 'Nothing here.']);
  });

  test('of a destination is counted by its state', () => {
    assert.equal(countStates([failing, letters, refusals]), '1 failing');
  });
});

suite('the first steps', () => {
  test('are done in any order, and the first one left is now', () => {
    const states = stepsOf({ source: true, call: false, destination: true, delivery: false }).map(({ state }) => state);
    assert.deepEqual(states, ['done', 'now', 'done', 'later']);
  });
});
