/** JSON without fault that makes odd calls: their number, types, ids, times and keys. */
import { BATCH, batchOf, type BodyCase, filled, nested, track } from './body-case.ts';
import { WRITE_KEY } from './running-collect.ts';

const CALL = track('');
const ESCAPED_KEY = WRITE_KEY.replace('w', '\\u0077');

const BATCHES: BodyCase[] = [
  ...['{}', '{"batch":[]}', '{"batch":null}', '{"batch":{}}', '{"batch":"x"}', CALL].map((body) => ({
    name: `${body} holds no calls`,
    path: BATCH,
    body,
    status: 400,
    code: 'empty_batch',
  })),
  { name: '2,500 calls are a batch', path: BATCH, body: batchOf(filled(2_500, () => CALL)), status: 200 },
  {
    name: '2,501 calls are too many',
    path: BATCH,
    body: batchOf(filled(2_501, () => CALL)),
    status: 400,
    code: 'too_many_calls',
  },
  {
    name: 'what is no object is no call',
    path: BATCH,
    body: batchOf('null', '1', '"x"', '[]', CALL, 'true'),
    status: 200,
    rejected: ['type_unknown', 'type_unknown', 'type_unknown', 'type_unknown', 'type_unknown'],
  },
  {
    name: 'one call over 32,768 bytes costs the batch only itself',
    path: BATCH,
    body: batchOf(CALL, track(`"properties":{"a":"${'x'.repeat(32_768)}"}`)),
    status: 200,
    rejected: ['call_too_large'],
  },
  {
    name: 'a shared context over 32,768 bytes is too large',
    path: BATCH,
    body: `{"batch":[${CALL}],"context":{"a":"${'x'.repeat(32_768)}"}}`,
    status: 400,
    code: 'call_too_large',
  },
];

const TYPES: BodyCase[] = [
  ...[
    '"Track"',
    '"TRACK"',
    '"track "',
    '"delete"',
    '"batch"',
    '"constructor"',
    '"__proto__"',
    'null',
    '1',
    '["track"]',
  ].map((type) => ({
    name: `${type} is no type`,
    path: BATCH,
    body: batchOf(`{"type":${type},"userId":"u1","event":"E"}`),
    status: 400,
    code: 'type_unknown',
  })),
  {
    name: 'the path gives the type, whatever the call says',
    body: track('"type":"identify"'),
    status: 200,
    stored: { type: '"track"' },
  },
];

const IDS: BodyCase[] = [
  {
    name: 'an id as number is its digits',
    body: track('"userId":1e21'),
    status: 200,
    stored: { userId: '"1000000000000000000000"' },
  },
  ...['{}', '[]', 'true', '{"toString":1}', '1e400'].map((id) => ({
    name: `${id} is no id`,
    body: track(`"userId":${id}`),
    status: 400,
    code: 'id_not_string',
  })),
  ...['null', '""'].map((id) => ({
    name: `${id} is no user`,
    body: track(`"userId":${id}`),
    status: 400,
    code: 'id_required',
  })),
  { name: 'an id of 10 KB is kept', body: track(`"userId":"${'u'.repeat(10_240)}"`), status: 200 },
  {
    name: 'an id in any script is kept',
    body: track('"userId":"👩‍👧\u202egnp.exe"'),
    status: 200,
    stored: { userId: '"👩‍👧\u202egnp.exe"' },
  },
  {
    name: 'an id like a path of NATS is kept',
    body: track('"userId":"a.*.>"'),
    status: 200,
    stored: { userId: '"a.*.>"' },
  },
];

const TIMES: BodyCase[] = [
  ...(
    [
      ['"0000-01-01T00:00:00Z"', '"0000-01-01T00:00:00.000Z"'],
      ['"9999-12-31T23:59:59.999Z"', '"9999-12-31T23:59:59.999Z"'],
      ['"2016-12-31T23:59:60Z"', '"2017-01-01T00:00:00.000Z"'],
      ['"2026-11-15T00:08:46+14:00"', '"2026-11-14T10:08:46.000Z"'],
      ['"2026-11-15T00:08:46.123456789Z"', '"2026-11-15T00:08:46.123Z"'],
      ['"2036-11-15T00:08:46Z"', '"2036-11-15T00:08:46.000Z"'],
      ['1763164800000', '"2025-11-15T00:00:00.000Z"'],
    ] as const
  ).map(([sent, timestamp]) => ({
    name: `${sent} is a time`,
    body: track(`"timestamp":${sent}`),
    status: 200,
    stored: { timestamp, originalTimestamp: sent },
  })),
  ...[
    '"275760-09-13T00:00:00Z"',
    '"2026-02-30"',
    '"2026-11-15T24:00:01Z"',
    '"2026-11-15T00:08:46+15:00"',
    '"yesterday"',
    '""',
    '1e21',
    '1e400',
    'true',
    '{}',
  ].map((sent) => ({
    name: `${sent} is no time`,
    body: track(`"timestamp":${sent}`),
    status: 400,
    code: 'timestamp_invalid',
  })),
];

const MESSAGE_IDS: BodyCase[] = [
  ...['a.b c', '*', '>', 'events.0.>', '$JS.API.>', '💥'.repeat(256), '\\u0000', '__proto__'].map((id) => ({
    name: `${id.slice(0, 12)} is a messageId`,
    body: track(`"messageId":"${id}"`),
    status: 200,
    stored: { messageId: `"${id}"` },
  })),
  {
    name: 'a messageId with lines of a NATS head is only an id',
    body: track('"messageId":"m\\r\\nNats-Rollup: all\\r\\n\\r\\n"'),
    status: 200,
    stored: { messageId: '"m\\r\\nNats-Rollup: all\\r\\n\\r\\n"' },
  },
  {
    name: 'a messageId of 10 KB is too long',
    body: track(`"messageId":"${'m'.repeat(10_240)}"`),
    status: 400,
    code: 'message_id_too_long',
  },
  {
    name: 'a messageId of 257 letters is too long',
    body: track(`"messageId":"${'💥'.repeat(257)}"`),
    status: 400,
    code: 'message_id_too_long',
  },
  { name: 'a messageId that is an object is no id', body: track('"messageId":{}'), status: 400, code: 'id_not_string' },
  { name: 'an empty messageId is made by the server', body: track('"messageId":""'), status: 200 },
];

/** The key stands in bodies too, and is to be found in nothing that is stored. */
const KEYS: BodyCase[] = [
  {
    name: 'a key in the body is not stored',
    body: track(`"writeKey":"${WRITE_KEY}"`),
    status: 200,
    stored: { event: '"E"' },
  },
  {
    name: 'a key in every call is not stored',
    path: BATCH,
    body: batchOf(filled(3, () => track(`"writeKey":"${WRITE_KEY}"`))),
    status: 200,
  },
  {
    name: 'an escaped key is not stored',
    body: track(`"writeKey":"${ESCAPED_KEY}"`),
    status: 200,
    stored: { event: '"E"' },
  },
  {
    name: 'a key under an escaped name is not stored',
    body: track(`"write\\u004bey":"${WRITE_KEY}"`),
    status: 200,
    stored: { event: '"E"' },
  },
  {
    name: 'an escaped key beside the plain one is not stored',
    body: track(`"writeKey":"${ESCAPED_KEY}","context":{"writeKey":"${WRITE_KEY}"}`),
    status: 200,
  },
  { name: 'a key sent as a property is not stored', body: track(`"properties":{"key":"${WRITE_KEY}"}`), status: 200 },
  {
    name: 'a batch with an escaped key and a call too deep is stored without both',
    path: BATCH,
    body: `{"writeKey":"${ESCAPED_KEY}","batch":[${CALL},${track(`"x":${nested('[', 100_000)}`)}]}`,
    status: 200,
    rejected: ['too_deep'],
    stored: { event: '"E"' },
  },
  {
    name: 'a batch with an escaped key and a deep field nobody knows is stored',
    path: BATCH,
    body: `{"writeKey":"${ESCAPED_KEY}","batch":[${CALL}],"x":${nested('[', 100_000)}}`,
    status: 200,
    stored: { event: '"E"' },
  },
  ...['userId', 'event', 'u1', 'E', 'writeKey'].map((other) => ({
    name: `another key called ${other} does not change the call`,
    body: track(`"writeKey":"${other}"`),
    status: 200,
    stored: { type: '"track"', userId: '"u1"', event: '"E"' },
  })),
  ...['batch', 'track', 'type'].map((other) => ({
    name: `another key called ${other} does not change the batch`,
    path: BATCH,
    body: `{"writeKey":"${other}","batch":[${CALL}]}`,
    status: 200,
    stored: { type: '"track"', userId: '"u1"', event: '"E"' },
  })),
];

export const ODD_CALLS: BodyCase[] = [...BATCHES, ...TYPES, ...IDS, ...TIMES, ...MESSAGE_IDS, ...KEYS];
