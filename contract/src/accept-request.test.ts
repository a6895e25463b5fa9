import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { acceptRequest, type Envelope } from './accept-request.ts';
import { CALL_TYPES } from './call.ts';
import { checkRequest } from './check-request.ts';
import { parseCall } from './parse-call.ts';

const anyJson = fc.jsonValue({ stringUnit: 'binary' });
const anyObject = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), anyJson);
const shape = fc.constantFrom(...CALL_TYPES, 'batch' as const);

/** Mostly right, so that many are accepted, and wrong in every field now and then. */
const nearlyCall = fc.record(
  {
    type: oftenOf(fc.constantFrom(...CALL_TYPES)),
    messageId: oftenOf(fc.string({ minLength: 1, unit: 'binary' })),
    userId: oftenOf(fc.oneof(fc.string({ minLength: 1 }), fc.double({ noNaN: true, noDefaultInfinity: true }))),
    anonymousId: oftenOf(fc.option(fc.string())),
    groupId: oftenOf(fc.string({ minLength: 1 })),
    previousId: oftenOf(fc.string({ minLength: 1 })),
    event: oftenOf(fc.string({ minLength: 1, unit: 'binary' })),
    name: oftenOf(fc.string()),
    properties: oftenOf(anyObject),
    traits: oftenOf(anyObject),
    context: oftenOf(anyObject),
    integrations: oftenOf(anyObject),
    timestamp: oftenOf(
      fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    sentAt: oftenOf(fc.integer()),
    writeKey: anyJson,
    ['__proto__']: anyJson,
    other: anyJson,
  },
  { requiredKeys: ['type', 'userId', 'groupId', 'previousId', 'event'] },
);

const nearlyBatch = fc.record(
  {
    batch: oftenOf(fc.array(nearlyCall, { minLength: 1, maxLength: 6 })),
    context: oftenOf(anyObject),
    integrations: oftenOf(anyObject),
    sentAt: oftenOf(fc.constant('2026-11-15T00:08:46Z')),
    messageId: anyJson,
  },
  { requiredKeys: ['batch'] },
);

const anyBody = fc.oneof(nearlyBatch, nearlyCall, anyJson).map(throughJson);

function oftenOf<T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: anyJson });
}

/** A body is always what JSON.parse makes of some text. */
function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function envelopeFor(shape: Envelope['shape'], refused: number[]): Envelope {
  return { shape, receivedAt: '2026-11-15T00:08:50.000Z', requestId: 'req_1', address: '203.0.113.7', refused };
}

test('checking never throws, whatever is sent, and accounts for every call', () => {
  fc.assert(
    fc.property(anyBody, shape, fc.nat(100_000), (body, shape, bodyBytes) => {
      const check = checkRequest(body, shape, bodyBytes);
      if (!check.ok) return;
      const refused = check.refused.map(({ index }) => index);
      assert.equal(acceptRequest(body, envelopeFor(shape, refused)).length, check.accepted);
    }),
    { numRuns: 500 },
  );
});

test('accepting never throws, even what nobody has checked', () => {
  fc.assert(fc.property(anyBody, shape, (body, shape) => void acceptRequest(body, envelopeFor(shape, []))));
});

test('checking and accepting leave the body as it was', () => {
  fc.assert(
    fc.property(anyBody, shape, (body, shape) => {
      const before = JSON.stringify(body);
      checkRequest(body, shape, 100_000);
      acceptRequest(body, envelopeFor(shape, []));
      assert.equal(JSON.stringify(body), before);
    }),
  );
});

test('an accepted event is written the same after being read again, and never carries the write key', () => {
  fc.assert(
    fc.property(nearlyCall.map(throughJson), (call) => {
      const parsed = parseCall(call, envelopeFor('batch', []));
      if (!parsed.ok) return;
      const text = JSON.stringify(parsed.value);
      assert.equal(JSON.stringify(JSON.parse(text)), text);
      assert.equal(Object.hasOwn(parsed.value, 'writeKey'), false);
      assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype);
    }),
    { numRuns: 500 },
  );
});

test('the same body and envelope give the same events', () => {
  fc.assert(
    fc.property(nearlyBatch.map(throughJson), (body) => {
      const once = acceptRequest(body, envelopeFor('batch', [0]));
      const again = acceptRequest(throughJson(body), envelopeFor('batch', [0]));
      assert.equal(JSON.stringify(once), JSON.stringify(again));
    }),
  );
});

test('nothing a client sends reaches the prototype of other objects', () => {
  const body = JSON.parse(
    '{"batch":[{"type":"page","userId":"u1","__proto__":{"polluted":1}}],"context":{"__proto__":{"polluted":1}}}',
  );
  const [event] = acceptRequest(body, envelopeFor('batch', []));
  assert.equal(event?.polluted, undefined);
  assert.equal(event?.context.polluted, undefined);
  assert.equal(Object.hasOwn({}, 'polluted') || 'polluted' in {}, false);
});
