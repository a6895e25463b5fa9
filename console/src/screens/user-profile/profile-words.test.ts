import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '../../parts/audience/pieces.ts';
import { endWords, leadWords, leafClaim, nameOf } from './profile-words.ts';

const NOW = Date.parse('2026-11-17T13:36:20.000Z');

test('a person is called by name, then by email, then by id', () => {
  assert.equal(nameOf({ id: 'u1', traits: { name: 'Ines', email: 'i@x.example' } }), 'Ines');
  assert.equal(nameOf({ id: 'u1', traits: { name: ' ', email: 'i@x.example' } }), 'i@x.example');
  assert.equal(nameOf({ id: 'u1', traits: { name: 5 } }), 'u1');
});

test('the first sentence says whether somebody is in, and since when', () => {
  const membership = {
    definitionId: 'aud_1',
    kind: 'audience' as const,
    key: 'a',
    name: 'A',
    value: true,
    sequence: 1,
    since: '2026-11-01T10:00:00.000Z',
    endsAt: null,
  };
  assert.match(leadWords('Ines', { name: 'A', kind: 'audience', membership }, NOW), /^Ines is in A since 1.Nov/);
  assert.equal(leadWords('Ines', { name: 'A', kind: 'audience', membership: undefined }, NOW), 'Ines is not in A.');
});

test('the end is told as the earliest time', () => {
  assert.match(
    endWords('2026-12-17T13:00:00.000Z', 'audience', true, NOW),
    /^It ends by itself on 17\sDec.* at the earliest/,
  );
  assert.equal(endWords(null, 'audience', true, NOW), 'It ends with an event only, never by itself.');
  assert.equal(endWords(null, 'audience', false, NOW), '');
});

test('a condition below a "not" holds when the event did not happen', () => {
  const leaf = { event: 'Refund', window: '7d', atLeast: 1 };
  const shared = { leaf, value: 0, threshold: 'at least 1', changesAt: null, messageIds: [] };
  const claim = leafClaim({ ...shared, path: '/when/all/1/not', holds: false }, new Map());
  assert.equal(plain(claim.words), 'they did not do Refund in the last 7 days');
  assert.equal(claim.holds, true);
});
