/** Bodies that are no JSON, or JSON at its edges: depth, size, numbers, names and letters. */
import { BATCH, batchOf, type BodyCase, filled, nested, track } from './body-case.ts';

const CALL = track('');

const NOT_JSON: readonly (readonly [string, string | Buffer])[] = [
  ['an empty body', ''],
  ['spaces alone', '   '],
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '1'],
  ['a text', '"x"'],
  ['an array', '[]'],
  ['an array of calls', `[${CALL}]`],
  ['NaN', track('"properties":{"a":NaN}')],
  ['Infinity', track('"properties":{"a":-Infinity}')],
  ['a comment', `${CALL}/* */`],
  ['a trailing comma', '{"userId":"u1","event":"E",}'],
  ['single quotes', "{'userId':'u1','event':'E'}"],
  ['names without quotes', '{userId:"u1",event:"E"}'],
  ['a hexadecimal number', track('"properties":{"a":0x10}')],
  ['a number with a leading zero', track('"properties":{"a":01}')],
  ['two objects', `${CALL}${CALL}`],
  ['an object cut short', CALL.slice(0, -1)],
  ['a line break inside a text', track('"properties":{"a":"\n"}')],
  ['a NUL inside a text', track('"properties":{"a":"\0"}')],
  ['a NUL after the object', `${CALL}\0`],
  ['half an escape', track('"properties":{"a":"\\u12"}')],
  ['a byte order mark', `\ufeff${CALL}`],
  ['UTF-16', Buffer.from(CALL, 'utf16le')],
  ['bytes that are no UTF-8', inText([0xff, 0xfe])],
  ['UTF-8 written longer than it needs to be', inText([0xc0, 0xaf])],
  ['half a surrogate pair in UTF-8', inText([0xed, 0xa0, 0x80])],
  ['a letter cut in the middle', inText([0xe2, 0x82])],
  ['brackets that are never closed', '['.repeat(30_000)],
];

export const ODD_JSON: BodyCase[] = [
  ...NOT_JSON.map(([what, body]) => ({ name: `${what} is not a call`, body, status: 400, code: 'malformed_json' })),
  { name: '16,000 nested arrays are not a call', body: nested('[', 16_000), status: 400, code: 'malformed_json' },
  {
    name: '250,000 nested arrays are not a batch',
    path: BATCH,
    body: nested('[', 250_000),
    status: 400,
    code: 'malformed_json',
  },
  {
    name: '83,000 nested objects hold no batch',
    path: BATCH,
    body: nested('{"a":', 83_000),
    status: 400,
    code: 'empty_batch',
  },
  { name: 'a call of 64 levels is taken', body: track(`"properties":${nested('{"a":', 63)}`), status: 200 },
  {
    name: 'a call of 65 levels is too deep',
    body: track(`"properties":${nested('{"a":', 64)}`),
    status: 400,
    code: 'too_deep',
  },
  {
    name: 'a call of 65 levels in a field nobody knows is too deep',
    body: track(`"x":${nested('[', 64)}`),
    status: 400,
    code: 'too_deep',
  },
  {
    name: 'a call of 80,000 levels costs the batch only itself',
    path: BATCH,
    body: batchOf(CALL, track(`"properties":${nested('{"a":', 80_000)}`)),
    status: 200,
    rejected: ['too_deep'],
  },
  {
    name: 'an array of 200,000 levels in place of a call costs the batch only itself',
    path: BATCH,
    body: batchOf(nested('[', 200_000), CALL),
    status: 200,
    rejected: ['type_unknown'],
  },
  {
    name: 'a shared context of 80,000 levels is too deep',
    path: BATCH,
    body: `{"batch":[${CALL}],"context":${nested('{"a":', 80_000)}}`,
    status: 400,
    code: 'too_deep',
  },
  {
    name: 'a call of 40,000 names is too large',
    path: BATCH,
    body: batchOf(track(`"properties":{${filled(40_000, (i) => `"k${i}":1`)}}`)),
    status: 400,
    code: 'call_too_large',
  },
  {
    name: 'a call of 30,000 numbers as names is too large',
    path: BATCH,
    body: batchOf(track(`"properties":{${filled(30_000, (i) => `"${i * 7}":1`)}}`)),
    status: 400,
    code: 'call_too_large',
  },
  {
    name: 'a call of 250,000 numbers is too large',
    path: BATCH,
    body: batchOf(track(`"properties":{"a":[${filled(250_000, () => '1')}]}`)),
    status: 400,
    code: 'call_too_large',
  },
  {
    name: 'a text of 1 MB is too large',
    path: BATCH,
    body: batchOf(track(`"properties":{"a":"${'x'.repeat(1_048_576)}"}`)),
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: 'a batch of 512,000 brackets answers as fast as any',
    path: BATCH,
    body: `{"batch":[${filled(2_499, () => nested('[', 100))}]}`,
    status: 400,
    code: 'type_unknown',
  },
  {
    name: '__proto__ is a name like any other',
    body: track('"__proto__":{"a":1},"properties":{"__proto__":{"isAdmin":true},"a":{"__proto__":null}}'),
    status: 200,
    stored: { properties: '{"__proto__":{"isAdmin":true},"a":{"__proto__":null}}' },
  },
  {
    name: '__proto__ gives a call no user',
    body: '{"__proto__":{"userId":"u1"},"event":"E"}',
    status: 400,
    code: 'id_required',
  },
  {
    name: '__proto__ gives a batch no calls',
    path: BATCH,
    body: `{"__proto__":${batchOf(CALL)}}`,
    status: 400,
    code: 'empty_batch',
  },
  {
    name: '__proto__ in a shared context is merged as data',
    path: BATCH,
    body: `{"batch":[${track('"context":{"__proto__":{"b":2}}')}],"context":{"__proto__":{"a":1},"c":3}}`,
    status: 200,
    stored: { context: '{"__proto__":{"b":2},"c":3}' },
  },
  {
    name: 'constructor and prototype are names like any other',
    body: track('"constructor":{"prototype":{"x":1}},"properties":{"constructor":{"prototype":{"x":1}},"toString":1}'),
    status: 200,
    stored: {
      constructor: '{"prototype":{"x":1}}',
      properties: '{"constructor":{"prototype":{"x":1}},"toString":1}',
    },
  },
  {
    name: 'toJSON is a name like any other',
    body: track('"toJSON":"x","properties":{"toJSON":{}}'),
    status: 200,
    stored: { properties: '{"toJSON":{}}' },
  },
  {
    name: 'of two equal names the last one counts',
    body: track('"event":"Last"'),
    status: 200,
    stored: { event: '"Last"' },
  },
  {
    name: 'names that are numbers come first, as in any JavaScript receiver',
    body: track('"properties":{"b":1,"2":1,"1":1}'),
    status: 200,
    stored: { properties: '{"1":1,"2":1,"b":1}' },
  },
  {
    name: 'numbers are those of JavaScript',
    body: track('"properties":{"a":12345678901234567890,"b":1e400,"c":-0,"d":1.0,"e":1E2,"f":0.1e-7}'),
    status: 200,
    stored: { properties: '{"a":12345678901234567000,"b":null,"c":0,"d":1,"e":100,"f":1e-8}' },
  },
  {
    name: 'half an emoji stays half an emoji',
    body: track('"properties":{"a":"\\ud800"}'),
    status: 200,
    stored: { properties: '{"a":"\\ud800"}' },
  },
  {
    name: 'an escaped NUL is a letter like any other',
    body: track('"properties":{"\\u0000":"\\u0000"}'),
    status: 200,
    stored: { properties: '{"\\u0000":"\\u0000"}' },
  },
  {
    name: 'line separators and non-characters are kept',
    body: track('"properties":{"a":"\u2028\u2029\uffff"}'),
    status: 200,
    stored: { properties: '{"a":"\u2028\u2029\uffff"}' },
  },
];

/** A call with these bytes inside one of its texts. */
function inText(bytes: number[]): Buffer {
  const [before = '', after = ''] = track('"properties":{"a":"@"}').split('@');
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}
