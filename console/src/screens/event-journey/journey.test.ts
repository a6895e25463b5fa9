import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Destination } from '@millrace/contract/control';
import { givesUpAt, latestRun, marksOf, tell } from './attempts.ts';
import { jsonLines } from './marked-json.ts';
import { replaySearch } from './replay-search.ts';
import { ruleLines } from './rules.ts';
import { type JourneyPart, nextLookMs, verdictSentence } from './verdict.ts';

const RECEIVED = '2026-11-17T12:58:05.112Z';
const lane = {
  state: 'paused' as const,
  since: RECEIVED,
  why: null,
  nextAt: null,
  depth: 3,
  deliveriesPerSecond: null,
  clearInMs: null,
  bytes: 0,
  limitBytes: null,
  room: null,
  updatedAt: RECEIVED,
};

function part(over: Partial<JourneyPart>): JourneyPart {
  return {
    id: 'dlv_1',
    sourceId: 'src_1',
    destinationId: 'dst_1',
    messageId: 'm1',
    type: 'track',
    name: 'Order Completed',
    userId: 'u_48213',
    anonymousId: null,
    receivedAt: RECEIVED,
    state: 'delivered',
    reason: null,
    rule: null,
    attempts: 1,
    firstAttemptAt: RECEIVED,
    lastAttemptAt: RECEIVED,
    lastStatus: 200,
    errorClass: null,
    sentence: null,
    nextAt: null,
    replayId: null,
    isErased: false,
    history: [],
    destinationName: 'Slack order alerts',
    story: [],
    replays: [],
    lane: null,
    ...over,
  };
}

const attempt = (number: number, outcome: string, replayId: string | null = null) => ({
  attempt: number,
  at: new Date(Date.parse(RECEIVED) + number * 1_000).toISOString(),
  outcome,
  totalMs: 5,
  nextAt: null,
  replayId,
  answers: [{ url: 'https://a.example', status: 503, timings: { totalMs: 5 } }],
});

suite('the verdict', () => {
  test('names the destinations that have it first, and the reasons of the others', () => {
    const parts = [
      part({ destinationName: 'Accounting export', state: 'skipped', reason: 'filtered' }),
      part({ destinationName: 'Fraud scoring', state: 'pending', lane }),
      part({ destinationName: 'Orders to ERP', state: 'retrying' }),
      part({}),
    ];
    assert.equal(
      verdictSentence(parts),
      'Slack order alerts has it. Orders to ERP is retrying, Fraud scoring is paused, and Accounting export filtered it out.',
    );
  });

  test('says when no destination has it, now or ever', () => {
    assert.equal(
      verdictSentence([part({ state: 'retrying' })]),
      'No destination has it yet. Slack order alerts is retrying.',
    );
    const skipped = part({ state: 'skipped', reason: 'filtered' });
    assert.equal(
      verdictSentence([skipped, part({ ...skipped, destinationName: 'ERP' })]),
      'No destination got it. ERP and Slack order alerts filtered it out.',
    );
  });
});

suite('attempts', () => {
  test('of a replay are told without those before it', () => {
    const history = [attempt(1, 'discarded'), attempt(1, 'retry', 'rpl_1'), attempt(2, 'retry', 'rpl_1')];
    assert.equal(latestRun({ history }).length, 2);
    const retrying = part({ state: 'retrying', history, nextAt: '2026-11-17T12:59:05.112Z', sentence: 'no' });
    assert.deepEqual(
      marksOf(retrying).map(({ state }) => state),
      ['retrying', 'retrying', 'planned'],
    );
    assert.equal(givesUpAt(retrying), Date.parse(RECEIVED) + 1_000 + 14_400_000);
  });

  test('are told with what failed before the delivery', () => {
    const { rest } = tell(part({ attempts: 2, history: [attempt(1, 'retry'), attempt(2, 'delivered')] }), 0);
    assert.equal(rest, 'on attempt 2. Attempt 1: the receiver answered 503.');
  });

  test('have not begun while the destination is paused', () => {
    assert.deepEqual(
      marksOf(part({ state: 'pending', lane })).map(({ state }) => state),
      ['paused'],
    );
  });
});

suite('rules', () => {
  const filters = [
    { field: 'type', op: 'equals' as const, value: 'track' },
    { field: 'properties.currency', op: 'equals' as const, value: 'CHF' },
  ];
  const destination = { filters, updatedAt: '2026-11-18T00:00:00Z' } as unknown as Destination;
  const event = { type: 'track', properties: { currency: 'EUR' } };

  test('show the rule that stopped the event with the value that it had', () => {
    const stopped = part({ state: 'skipped', reason: 'filtered', rule: 'properties.currency equals "CHF"' });
    const lines = ruleLines(stopped, destination, event);
    assert.deepEqual(lines.at(-1), {
      isBroken: true,
      text: 'Filter:',
      rule: 'properties.currency equals "CHF"',
      found: 'is "EUR"',
    });
    assert.equal(lines.filter(({ isBroken }) => isBroken).length, 1);
  });

  test('do not claim a filter that the event could not have passed', () => {
    assert.equal(ruleLines(part({}), destination, event).at(-1)?.text, 'It passed the filter of that time');
    assert.equal(ruleLines(part({}), undefined, undefined).at(-1)?.text, 'It passed the filter of that time');
  });

  test('stop at the first reason', () => {
    const lines = ruleLines(part({ state: 'skipped', reason: 'integrations_map' }), destination, event);
    assert.deepEqual(
      lines.map(({ text }) => text),
      ['The call turns it off (integrations)'],
    );
  });
});

test('a delivery without a row is told as one that the destination has', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const plain = [{ deliveryId: 'dlv_9', destinationId: 'dst_9', destinationName: 'CRM', deliveredAt: at }];
  assert.match(verdictSentence([], plain), /^CRM has it since the first attempt/);
  assert.doesNotMatch(verdictSentence([], plain), /No destination/);
  assert.match(verdictSentence([part({ state: 'retrying' })], plain), /^CRM has it .*retrying/);
});

test('a journey is looked at again while it moves, and an unknown one for a minute', () => {
  const rest = { story: [], stored: null, refusals: [], withoutRow: [] };
  const journey = { messageId: 'm1', verdict: 'accepted' as const, ...rest };
  assert.equal(nextLookMs(undefined, 0), 5_000);
  assert.equal(nextLookMs({ ...journey, destinations: [part({ state: 'retrying' })] }, 100), 5_000);
  assert.equal(nextLookMs({ ...journey, destinations: [part({ state: 'delivered' })] }, 1), false);
  assert.equal(nextLookMs({ ...journey, verdict: 'unknown', destinations: [] }, 11), 5_000);
  assert.equal(nextLookMs({ ...journey, verdict: 'unknown', destinations: [] }, 12), false);
});

test('JSON in lines is the same JSON, and marks the values of the fields', () => {
  const value = { type: 'track', properties: { currency: 'EUR', items: [1, { a: [] }], none: {} } };
  const lines = jsonLines(value, new Set(['properties.currency']));
  const text = lines.map((line) => line.map((piece) => piece.text).join('')).join('\n');
  assert.deepEqual(JSON.parse(text), value);
  assert.deepEqual(
    lines.flat().filter(({ kind }) => kind === 'mark'),
    [{ kind: 'mark', text: '"EUR"' }],
  );
});

test('a replay of one event asks for its millisecond, and leaves out what a list with commas would change', () => {
  const event = { messageId: 'm1', type: 'track', event: 'Paid, in full', userId: 'u1', receivedAt: RECEIVED };
  assert.deepEqual(replaySearch({ storedAt: RECEIVED, sourceId: 'src_1', event }, [part({})]), {
    sourceId: 'src_1',
    destinationId: 'dst_1',
    messageId: 'm1',
    userId: 'u1',
    type: 'track',
    from: RECEIVED,
    to: '2026-11-17T12:58:05.113Z',
  });
});
