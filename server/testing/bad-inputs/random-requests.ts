/** Random requests, made by fast-check. */
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { WRITE_KEY } from './running-collect.ts';
import { BASIC, basic, type ToSend } from './send.ts';

const KEY = { Authorization: BASIC };
const TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias'];
const SINGLE_PATHS = [...TYPES, ...TYPES.map((type) => type.slice(0, 1))].map((name) => `/v1/${name}`);
const BATCH_PATHS = ['/v1/batch', '/v1/import', '/v1/b'];
const FIELDS = ['type', 'userId', 'anonymousId', 'groupId', 'previousId', 'event', 'name', 'category', 'properties'];
const MORE_FIELDS = ['traits', 'context', 'integrations', 'timestamp', 'originalTimestamp', 'sentAt', 'writeKey'];
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'toJSON',
  'hasOwnProperty',
  'batch',
  'direct',
  'ip',
  '0',
  '',
];

/** Any name a call may have, and a few that no object should trip over. */
const name = fc.oneof(fc.constantFrom(...FIELDS, ...MORE_FIELDS, ...ODD_NAMES), fc.string({ unit: 'binary' }));
const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 });
const text = fc.string({ unit: 'binary' });
const time = mostly(fc.constantFrom('2026-11-15T00:08:46.123Z', '2026-11-15 00:08:46+0100', 1_763_164_800_000));
const id = mostly(fc.oneof(text, fc.double(), fc.constant(null)));
const someId = mostly(fc.oneof(fc.string({ minLength: 1, unit: 'binary' }), fc.integer()));
const map = mostly(fc.dictionary(name, json));

/** Mostly valid values, and now and then anything else: a call is stored only if all its fields are right. */
function mostly<T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: json });
}

/** Mostly acceptable, so that much of it is stored. */
const call: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.record({ type: fc.constantFrom(...TYPES), userId: someId, groupId: someId, previousId: someId }),
    fc.record(
      {
        event: mostly(fc.string({ minLength: 1, unit: 'binary' })),
        anonymousId: id,
        properties: map,
        traits: map,
        context: map,
        integrations: map,
        timestamp: time,
        sentAt: time,
        writeKey: fc.oneof(fc.constant(WRITE_KEY), fc.constantFrom(...FIELDS, ...TYPES), fc.string()),
        other: json,
      },
      { requiredKeys: [] },
    ),
  )
  .map(([needed, others]) => ({ ...needed, event: 'E', ...others }));

/** Ids are never the same twice: a request that collect recognises as sent before is not stored again. */
function withFreshId(value: Record<string, unknown>): Record<string, unknown> {
  return { ...value, messageId: randomUUID() };
}

export const randomBytes: fc.Arbitrary<ToSend> = fc
  .record({
    path: fc.constantFrom(...SINGLE_PATHS, ...BATCH_PATHS),
    body: fc.uint8Array({ maxLength: 4_000, size: 'max' }),
    encoding: fc.constantFrom('', 'gzip', 'identity', 'br', 'x-gzip', 'GZip', 'gzip,gzip', ' '),
  })
  .map(({ path, body, encoding }) => ({ path, body: Buffer.from(body), headers: { ...KEY, ...encoded(encoding) } }));

function encoded(encoding: string): Record<string, string> {
  return encoding === '' ? {} : { 'Content-Encoding': encoding };
}

export const randomJson: fc.Arbitrary<ToSend> = fc
  .record({ value: json, path: fc.constantFrom(...SINGLE_PATHS, ...BATCH_PATHS) })
  .map(({ value, path }) => ({ path, body: JSON.stringify(value), headers: KEY }));

export const randomCalls: fc.Arbitrary<ToSend> = fc
  .record({
    calls: fc.array(fc.oneof({ weight: 9, arbitrary: call }, { weight: 1, arbitrary: json }), {
      minLength: 1,
      maxLength: 5,
    }),
    shared: fc.record(
      { context: map, integrations: map, sentAt: time, writeKey: call.map((one) => one['writeKey']), x: json },
      { requiredKeys: [] },
    ),
    path: fc.constantFrom(...BATCH_PATHS, ...SINGLE_PATHS),
    escapeEvery: fc.constantFrom(0, 0, 0, 1, 3),
    isGzip: fc.boolean(),
  })
  .map(({ calls, shared, path, escapeEvery, isGzip }) => {
    const fresh = calls.map((one) => (isRecord(one) ? withFreshId(one) : one));
    const text = JSON.stringify(BATCH_PATHS.includes(path) ? { ...shared, batch: fresh } : fresh[0]);
    const body = escapeEvery === 0 ? text : withEscapes(text, escapeEvery);
    return { path, body: isGzip ? gzipSync(body) : body, headers: { ...KEY, ...encoded(isGzip ? 'gzip' : '') } };
  });

/** The same JSON with every nth letter of its plain texts written as an escape. */
function withEscapes(text: string, every: number): string {
  let letters = 0;
  return text.replaceAll(/"[A-Za-z0-9_ -]*"/g, (plain) =>
    plain.replaceAll(/[^"]/g, (letter) => {
      letters += 1;
      return letters % every === 0 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter;
    }),
  );
}

type Mutation = { at: number; length: number; bytes: Uint8Array };

const ODD_PARTS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\0',
  '\r',
  '0',
  'a',
  ' ',
  '\ufeff',
  'null',
  '1e999',
  '\\ud800',
];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  length: fc.constantFrom(0, 1, 1, 1, 2, 8, 64),
  bytes: fc.oneof(
    fc.constantFrom(...ODD_PARTS).map((part) => Buffer.from(part)),
    fc.uint8Array({ maxLength: 4 }),
  ),
});

export const mutations = fc.array(mutation, { minLength: 1, maxLength: 3 });

/** Some bytes taken out, others put in. */
export function mutate(bytes: Buffer, changes: Mutation[]): Buffer {
  return changes.reduce((changed, { at, length, bytes: added }) => {
    const from = changed.length === 0 ? 0 : at % changed.length;
    return Buffer.concat([changed.subarray(0, from), added, changed.subarray(from + length)]);
  }, bytes);
}

export const mutatedBatches: fc.Arbitrary<ToSend> = fc
  .record({ changes: mutations, target: fc.constantFrom('text', 'text', 'gzip') })
  .map(({ changes, target }) => {
    const text = Buffer.from(JSON.stringify(goodBatch()));
    const body = target === 'text' ? mutate(text, changes) : mutate(gzipSync(text), changes);
    return { path: '/v1/batch', body, headers: { ...KEY, ...encoded(target === 'gzip' ? 'gzip' : '') } };
  });

function goodBatch(): object {
  return {
    batch: TYPES.map((type) => ({
      type,
      messageId: randomUUID(),
      userId: 'Zoë 💥',
      groupId: 'g1',
      previousId: 'p1',
      event: 'Order Completed',
      name: 'Home',
      properties: { revenue: 12.5, items: [{ sku: 'a', __proto__: null }], at: '2026-11-15' },
      traits: { plan: 'pro', n: -0 },
      context: { ip: '8.8.8.8', page: { url: 'https://shop.example/?a=b' } },
      integrations: { All: true, Webhooks: false },
      timestamp: '2026-11-15T00:08:46.123Z',
    })),
    context: { library: { name: 'test', version: '1' } },
    sentAt: '2026-11-15T00:08:47.000+0100',
  };
}

const PATH_PARTS = [
  '/v1',
  '/',
  'track',
  't',
  'batch',
  'pixel',
  'projects',
  WRITE_KEY,
  'settings',
  'sourceConfig',
  'm',
  'healthz',
  'readyz',
  '..',
  '%2e',
  '%00',
  '%',
  '?',
  'data=',
  'writeKey=',
  '&',
  '=',
];
const HEADER_NAMES = [
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Origin',
  'X-Forwarded-For',
  'X-Write-Key',
  'Cookie',
  'Range',
  'Accept-Encoding',
  'If-None-Match',
  'X-HTTP-Method-Override',
  '__proto__',
  'constructor',
];
const HEADER_VALUES = [
  BASIC,
  basic(WRITE_KEY),
  basic(':'),
  'Basic',
  'Basic !!!',
  'Bearer x',
  'gzip',
  'br',
  'identity',
  'text/plain',
  'null',
  '1.2.3.4, ::1',
  'fe80::1%eth0',
  '',
  ',,,,',
  'bytes=0-',
];

const visible = fc.stringMatching(/^[\x21-\x7e]{0,40}$/);
const latin = fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,60}$/);

export const randomRequests: fc.Arbitrary<ToSend> = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'GET', 'GET', 'OPTIONS', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'TRACE'),
    path: fc.oneof(
      fc.constantFrom(
        ...SINGLE_PATHS,
        ...BATCH_PATHS,
        '/v1/m',
        '/v1/pixel/track?data=e30',
        '/sourceConfig',
        '/healthz',
      ),
      fc
        .array(fc.oneof(fc.constantFrom(...PATH_PARTS), visible), { maxLength: 8 })
        .map((parts) => `/${parts.join('')}`),
      fc.array(fc.constantFrom(...PATH_PARTS), { maxLength: 5 }).map((parts) => `/v1/${parts.join('/')}`),
    ),
    headers: fc.dictionary(fc.constantFrom(...HEADER_NAMES), fc.oneof(fc.constantFrom(...HEADER_VALUES), latin), {
      maxKeys: 5,
    }),
    pixel: fc.option(json),
  })
  .map(({ method, path, headers, pixel }) => {
    const data = Buffer.from(JSON.stringify(pixel)).toString('base64');
    const body = JSON.stringify({ ...withFreshId({ userId: 'u1', event: 'E' }), writeKey: WRITE_KEY });
    const target = pixel === null ? path : `/v1/pixel/track?data=${data}`;
    return { method, path: target.replaceAll('#', ''), headers, ...(method === 'POST' ? { body } : {}) };
  });

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
