import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseCall } from './parse-call.ts';
import { BATCH_FRAME_BYTES, batchBody, batchItem, deleteBody, webhookBody } from './webhook-body.ts';

const envelope = { shape: 'batch', receivedAt: '2026-11-15T00:08:50.000Z', requestId: 'req_1' } as const;
const text = fc.string({ unit: 'binary' });
const anyObject = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary' }));
const anyCall = fc.record({
  type: fc.constantFrom('identify', 'track', 'page', 'screen', 'group', 'alias'),
  userId: text.map((id) => `u${id}`),
  anonymousId: fc.option(text),
  groupId: fc.constant('g1'),
  previousId: fc.constant('p1'),
  event: text.map((event) => `E${event}`),
  name: fc.option(text),
  properties: fc.option(anyObject),
  traits: fc.option(anyObject),
  context: fc.option(anyObject),
});

test('a receiver that reads a body and writes it again gets the same text, in both formats', () => {
  fc.assert(
    fc.property(anyCall, fc.constantFrom('documented' as const, 'full' as const), (call, format) => {
      const parsed = parseCall(JSON.parse(JSON.stringify(call)), envelope);
      assert.ok(parsed.ok);
      const body = webhookBody(parsed.value, format);
      assert.equal(JSON.stringify(JSON.parse(body)), body);
    }),
    { numRuns: 300 },
  );
});

test('a delete body is written the same after being read again', () => {
  fc.assert(
    fc.property(text, (userId) => {
      const body = deleteBody({ userId, timestamp: '2026-11-15T00:08:50.000Z' });
      assert.equal(JSON.stringify(JSON.parse(body)), body);
    }),
  );
});

test('a body is valid UTF-8 whatever text the client sent', () => {
  const parsed = parseCall(JSON.parse('{"type":"track","userId":"\\ud800","event":"\\udfff"}'), envelope);
  assert.ok(parsed.ok);
  const body = webhookBody(parsed.value, 'documented');
  assert.equal(Buffer.from(body).toString(), body);
});

test('a batch is written the same after being read again, and its frame has the bytes that are said', () => {
  fc.assert(
    fc.property(fc.array(anyCall, { minLength: 1, maxLength: 5 }), (calls) => {
      const items = calls.map((call, place) => {
        const parsed = parseCall(JSON.parse(JSON.stringify(call)), envelope);
        assert.ok(parsed.ok);
        const item = { id: `dlv_${place}`, attempt: place + 1, order: `1794701330000-${place}` };
        return batchItem(item, webhookBody(parsed.value, 'batch'));
      });
      const body = batchBody(items);
      assert.equal(JSON.stringify(JSON.parse(body)), body);
      const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(item), items.length - 1);
      assert.equal(Buffer.byteLength(body), bytes + BATCH_FRAME_BYTES);
    }),
    { numRuns: 50 },
  );
});
