/** All of `contract/cases` that a client can meet: it refuses what the service refuses, and what it sends means the same. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { acceptRequest, type Envelope } from '../../../contract/src/accept-request.ts';
import { caseFiles, type Fill, filled } from '../testing/contract-cases.ts';
import { encodeCall, type EncodeNeeds } from './encode-call.ts';
import { InvalidCallError } from './errors.ts';
import { makeIsoTime } from './iso-clock.ts';

interface Case {
  name: string;
  shape?: string;
  input: string;
  expect: string;
  fills?: Fill[];
}

type Fields = Record<string, unknown>;

const NOW = '2026-11-15T00:08:50.000Z';
const needs: EncodeNeeds = {
  nowMs: () => Date.parse(NOW),
  isoTime: makeIsoTime(),
  makeId: () => 'made',
  libraryText: '{"name":"lib"}',
};
/** Only these reach the wire: the service keeps every other field as well, but a client sends none. */
const FIELDS = new Set(
  'type messageId timestamp userId anonymousId groupId previousId event name category properties traits context integrations'.split(
    ' ',
  ),
);

/** Judged are the calls as they are sent: with the fields that the client adds, and without fields that no call has. */
const CLIENT_CODES: Record<string, string> = {
  'a call of 32,768 bytes is accepted': 'call_too_large',
  'size is looked at before the type': 'type_unknown',
};

for (const { file, cases } of caseFiles<Case>('call')) {
  suite(file, () => {
    for (const each of cases) test(each.name, () => run(each));
  });
}

suite('timestamps', () => {
  for (const { cases } of caseFiles<Case>('timestamp')) {
    for (const { name, input, expect } of cases) test(name, () => runTimestamp(JSON.parse(input), JSON.parse(expect)));
  }
});

function run(each: Case): void {
  const call: unknown = JSON.parse(filled(each.input, each.fills));
  const expected = JSON.parse(filled(each.expect, each.fills)) as Fields;
  const encoded = encode(call, each.shape);
  if ('code' in expected || 'code' in encoded) {
    return assert.deepEqual(encoded, { code: CLIENT_CODES[each.name] ?? expected['code'] });
  }
  const again = JSON.stringify(JSON.parse(encoded.text));
  assert.equal(again, encoded.text, 'the text is what JSON.stringify writes');
  const event = acceptedEvent(encoded.text);
  // originalTimestamp and sentAt are between other libraries and the service; this client sends neither.
  if (hasOtherTimes(call)) event['timestamp'] = expected['timestamp'];
  assert.deepEqual(meaning(event), meaning(expected));
}

function hasOtherTimes(call: unknown): boolean {
  return typeof call === 'object' && call !== null && ('originalTimestamp' in call || 'sentAt' in call);
}

function encode(call: unknown, shape = 'batch'): { text: string; code?: never } | { code: string } {
  const type = shape === 'batch' ? (call as Fields | null)?.['type'] : shape;
  try {
    return { text: encodeCall(type as never, call, needs).text };
  } catch (error) {
    assert.ok(error instanceof InvalidCallError);
    return { code: error.code };
  }
}

function acceptedEvent(text: string): Fields {
  const envelope: Envelope = { shape: 'batch', receivedAt: NOW, requestId: 'req_1' };
  const [event] = acceptRequest({ batch: [JSON.parse(text)] }, envelope);
  return { ...event };
}

/** Without what the client adds and the service would have made, and without the fields that have no place in a client. */
function meaning(event: Fields): Fields {
  const { library: _, ip: __, ...context } = event['context'] as Fields;
  const { messageId, ...fields } = Object.fromEntries(Object.entries(event).filter(([key]) => FIELDS.has(key)));
  return {
    ...fields,
    context,
    messageId: String(messageId).startsWith('req_1-') ? 'made' : messageId,
  };
}

function runTimestamp(timestamp: unknown, expected: string | null): void {
  const encoded = encode({ type: 'track', userId: 'u1', event: 'E', timestamp });
  // Where the timestamp is null there is none, and the call has the time it was made.
  const sent = timestamp === null ? NOW : expected;
  if (sent === null) return assert.deepEqual(encoded, { code: 'timestamp_invalid' });
  assert.ok('text' in encoded);
  assert.equal((JSON.parse(encoded.text) as Fields)['timestamp'], sent);
}
