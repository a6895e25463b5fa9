/** The stories are worth what this check sees, so it is shown each way in which a stored event could be wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from './recorder.ts';
import { assertStoredAsSent, type StoredEvent } from './stored-as-sent.ts';
import { type Fields, WRITE_KEY } from './story.ts';

const call = {
  type: 'track',
  messageId: 'm1',
  userId: 'u1',
  event: 'E',
  properties: { a: null },
  timestamp: '2020-01-01',
};
const exchange: Exchange = {
  method: 'POST',
  path: '/v1/batch',
  headers: {},
  body: JSON.stringify({
    batch: [{ ...call, anonymousId: null }],
    context: { library: { name: 'lib' } },
    sentAt: '2026-01-01T00:00:00.5+0000',
    writeKey: WRITE_KEY,
  }),
  status: 200,
  startedAt: Date.parse('2026-01-01T00:00:02.000Z'),
  answeredAt: Date.parse('2026-01-01T00:00:03.000Z'),
};
const event: Fields = {
  type: 'track',
  messageId: 'm1',
  userId: 'u1',
  event: 'E',
  properties: { a: null },
  context: { library: { name: 'lib' } },
  originalTimestamp: '2020-01-01',
  sentAt: '2026-01-01T00:00:00.500Z',
  receivedAt: '2026-01-01T00:00:02.750Z',
  timestamp: '2020-01-01T00:00:02.250Z',
};

function line(changed: Fields = {}): StoredEvent {
  return { stream: 'EVENTS-0', sequence: 1, sourceId: 'src_1', event: { ...event, ...changed } };
}

test('what is stored as sent passes, also when it was sent twice', () => {
  assertStoredAsSent([line()], [exchange]);
  assertStoredAsSent([line()], [exchange, exchange]);
});

test('without a time of sending, the time of the call is kept as it is', () => {
  const body = JSON.stringify({ batch: [call], context: { library: { name: 'lib' } } });
  const { sentAt: _, ...unsent } = event;
  const kept = { ...line(), event: { ...unsent, timestamp: '2020-01-01T00:00:00.000Z' } };
  assertStoredAsSent([kept], [{ ...exchange, body }]);
  assert.throws(() => assertStoredAsSent([line()], [{ ...exchange, body }]), assert.AssertionError);
});

test('a call that was lost or stored twice is seen', () => {
  assert.throws(() => assertStoredAsSent([], [exchange]));
  assert.throws(() => assertStoredAsSent([line(), line()], [exchange]));
  assert.throws(() => assertStoredAsSent([line({ messageId: 'm2' })], [exchange]));
});

const mistakes: Record<string, Fields> = {
  'a changed id': { userId: 'u2' },
  'a null kept': { anonymousId: null },
  'an emptied property': { properties: {} },
  'an added field': { version: 1 },
  'the context of the batch forgotten': { context: {} },
  'an address added to a call from a server': { context: { library: { name: 'lib' }, ip: '127.0.0.1' } },
  'the write key kept': { writeKey: WRITE_KEY },
  'the write key hidden in the context': { context: { library: { name: 'lib' }, key: WRITE_KEY } },
  'an original time rewritten': { originalTimestamp: '2020-01-01T00:00:00.000Z' },
  'a time of sending rewritten': { sentAt: '2026-01-01T00:00:00.5+0000' },
  'a time not corrected': { timestamp: '2020-01-01T00:00:00.000Z' },
  'a time of receipt before the request': { receivedAt: '2026-01-01T00:00:01.999Z' },
};

for (const [mistake, changed] of Object.entries(mistakes)) {
  test(`${mistake} is seen`, () => {
    assert.throws(() => assertStoredAsSent([line(changed)], [exchange]), assert.AssertionError);
  });
}
