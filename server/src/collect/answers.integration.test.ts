/** The table of answers, row by row, over real HTTP. */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MAX_BATCH_BYTES, MAX_CALL_BYTES, REFUSALS, REQUEST_PROBLEMS } from '@millrace/contract';
import { SOURCE, startCollect, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { basic, jsonOf, type HttpAnswer, send, sendWithKey } from '../../testing/bad-inputs/send.ts';
import { hashOfKey } from './find-write-key.ts';

const CALL = '{"userId":"u1","event":"Order Completed"}';
const TRACK = '{"type":"track","userId":"u1","event":"Order Completed"}';
const GZIP = { 'Content-Encoding': 'gzip' };
const REVOCATION_MS = 1_000;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
beforeEach(() => collect.takeStored());

suite('calls that are stored', () => {
  test('a single call is answered with 200 and nothing but success', async () => {
    const answer = await sendWithKey(collect.port, { path: '/v1/track', body: CALL });
    assertAnswer(answer, 200, { success: true });
    assert.equal(answer.bytes.toString(), '{"success":true}');
    assert.equal(answer.headers['content-type'], 'application/json');
    const [stored, ...others] = await storedEvents();
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(stored, { type: 'track', userId: 'u1', event: 'Order Completed', context: {} });
  });

  test('a whole batch is answered with 200 and nothing but success', async () => {
    const answer = await sendWithKey(collect.port, { path: '/v1/batch', body: `{"batch":[${TRACK},${TRACK}]}` });
    assertAnswer(answer, 200, { success: true });
    assert.equal((await storedEvents()).length, 2);
  });

  test('a batch with refused calls is answered with 200, their places and their reasons', async () => {
    const refused = '{"type":"track","messageId":"m2","userId":"u1"}';
    const body = `{"batch":[${TRACK},${refused},${TRACK},{"type":"page"}]}`;
    const answer = await sendWithKey(collect.port, { path: '/v1/batch', body });
    assertAnswer(answer, 200, {
      success: true,
      accepted: 2,
      rejected: [
        { index: 1, messageId: 'm2', code: 'event_not_defined', message: REFUSALS.event_not_defined },
        { index: 3, code: 'id_required', message: REFUSALS.id_required },
      ],
    });
    assert.deepEqual(
      (await storedEvents()).map(({ type }) => type),
      ['track', 'track'],
    );
  });

  test('one call too large in a legal batch is one refused call', async () => {
    const large = `{"type":"track","userId":"u1","event":"E","properties":{"a":"${'x'.repeat(MAX_CALL_BYTES)}"}}`;
    for (const headers of [{}, GZIP]) {
      const text = `{"batch":[${TRACK},${large}]}`;
      const body = headers === GZIP ? gzipSync(text) : text;
      assertAnswer(await sendWithKey(collect.port, { path: '/v1/batch', headers, body }), 200, {
        success: true,
        accepted: 1,
        rejected: [{ index: 1, code: 'call_too_large', message: REFUSALS.call_too_large }],
      });
    }
    assert.equal((await storedEvents()).length, 2);
  });
});

suite('calls that are refused', () => {
  test('a single call is answered with 400 and its reason', async () => {
    const answer = await sendWithKey(collect.port, { path: '/v1/track', body: '{"userId":"u1"}' });
    assertAnswer(answer, 400, { success: false, code: 'event_not_defined', message: REFUSALS.event_not_defined });
    assert.deepEqual(await storedEvents(), []);
  });

  test('a batch of nothing but refused calls is answered with 400 and every reason', async () => {
    const body = '{"batch":[{"type":"page"},{"type":"alias","messageId":"m2","userId":"u1"}]}';
    const answer = await sendWithKey(collect.port, { path: '/v1/batch', body });
    assertAnswer(answer, 400, {
      success: false,
      code: 'id_required',
      message: REFUSALS.id_required,
      rejected: [
        { index: 0, code: 'id_required', message: REFUSALS.id_required },
        { index: 1, messageId: 'm2', code: 'previous_id_required', message: REFUSALS.previous_id_required },
      ],
    });
    assert.deepEqual(await storedEvents(), []);
  });

  test('a body that is not JSON is answered with 400', async () => {
    const answer = await sendWithKey(collect.port, { path: '/v1/batch', body: '{"batch":' });
    assertProblem(answer, 400, 'malformed_json');
    assert.deepEqual(await storedEvents(), []);
  });

  test('a call or batch over its size is answered with 413, compressed or not', async () => {
    const call = CALL.padEnd(MAX_CALL_BYTES + 1);
    const batch = `{"batch":[${TRACK}]}`.padEnd(MAX_BATCH_BYTES + 1);
    for (const [path, text] of [
      ['/v1/track', call],
      ['/v1/batch', batch],
      ['/v1/b', batch],
    ] as const) {
      assertProblem(await sendWithKey(collect.port, { path, body: text }), 413, 'payload_too_large');
      const body = gzipSync(text);
      assertProblem(await sendWithKey(collect.port, { path, body, headers: GZIP }), 413, 'payload_too_large');
    }
    assert.deepEqual(await storedEvents(), []);
  });

  test('a client that sends far too much still gets to read the answer', async () => {
    const answer = await sendWithKey(collect.port, { path: '/v1/batch', body: Buffer.alloc(8_000_000, ' ') });
    assertProblem(answer, 413, 'payload_too_large');
  });
});

suite('write keys', () => {
  test('none and an unknown one are answered with 401, wherever they are looked for', async () => {
    const unknown = { Authorization: basic('nobody:') };
    assertProblem(await send(collect.port, { path: '/v1/track', body: CALL }), 401, 'invalid_write_key');
    assertProblem(
      await send(collect.port, { path: '/v1/batch', body: `{"batch":[${TRACK}]}` }),
      401,
      'invalid_write_key',
    );
    assertProblem(
      await send(collect.port, { path: '/v1/track', body: '{"writeKey":"nobody"}' }),
      401,
      'invalid_write_key',
    );
    assertProblem(
      await send(collect.port, { path: '/v1/track', body: CALL, headers: unknown }),
      401,
      'invalid_write_key',
    );
    assertProblem(
      await send(collect.port, { path: '/v1/track', body: 'junk', headers: unknown }),
      401,
      'invalid_write_key',
    );
    assert.deepEqual(await storedEvents(), []);
  });

  test('a revoked one is answered with 401 within a second, while its successor goes on', async () => {
    const hashes = ['old-key', 'new-key'].map(hashOfKey);
    const source = { ...SOURCE, id: 'src_rotated', writeKeyHashes: hashes };
    await collect.putSource(source);
    assert.equal((await sendAs('old-key')).status, 200);
    const revokedAt = performance.now();
    await collect.putSource({ ...source, writeKeyHashes: hashes.slice(1) });
    while ((await sendAs('old-key')).status === 200) assert.ok(performance.now() - revokedAt < REVOCATION_MS);
    assertProblem(await sendAs('old-key'), 401, 'invalid_write_key');
    assert.equal((await sendAs('new-key')).status, 200);
  });

  test('one of a disabled source is answered with 403', async () => {
    await collect.putSource({ ...SOURCE, id: 'src_off', enabled: false, writeKeyHashes: [hashOfKey('off-key')] });
    assertProblem(await sendAs('off-key'), 403, 'source_disabled');
    const body = `{"writeKey":"off-key","batch":[${TRACK}]}`;
    assertProblem(await send(collect.port, { path: '/v1/batch', body }), 403, 'source_disabled');
    assert.deepEqual(await storedEvents(), []);
  });

  test('the header wins over the body', async () => {
    const inBody = (key: string) => `{"userId":"u1","event":"E","writeKey":"${key}"}`;
    assert.equal((await sendAs(WRITE_KEY, inBody('nobody'))).status, 200);
    assertProblem(await sendAs('nobody', inBody(WRITE_KEY)), 401, 'invalid_write_key');
  });
});

suite('the rate limit of a source', () => {
  test('is answered with 429 and whole seconds to wait, for that source only', async () => {
    await collect.putSource(limited('src_slow', 'slow-key', 0.01));
    assert.deepEqual(await statusesOf(['slow-key', 'slow-key']), [200, 200]);
    const answer = await sendAs('slow-key');
    assertProblem(answer, 429, 'rate_limited');
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(answer.headers['x-ratelimit-reset'], answer.headers['retry-after']);
    assert.equal((await storedEvents()).length, 2);
    assert.equal((await sendAs(WRITE_KEY)).status, 200);
  });

  test('lets the source send again after the time it was told', async () => {
    await collect.putSource(limited('src_patient', 'patient-key', 0.3));
    await statusesOf(['patient-key', 'patient-key']);
    const seconds = Number((await sendAs('patient-key')).headers['retry-after']);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    assert.equal((await sendAs('patient-key')).status, 200);
  });

  test('takes a batch whole and lets the source wait for it afterwards', async () => {
    await collect.putSource(limited('src_bulk', 'bulk-key', 1));
    const body = `{"writeKey":"bulk-key","batch":[${Array.from({ length: 12 }, () => TRACK).join(',')}]}`;
    assert.equal((await send(collect.port, { path: '/v1/batch', body })).status, 200);
    assert.equal((await storedEvents()).length, 12);
    assert.match(String((await sendAs('bulk-key')).headers['retry-after']), /^(9|10|11)$/);
  });
});

function limited(id: string, key: string, perSecond: number): typeof SOURCE {
  return { ...SOURCE, id, writeKeyHashes: [hashOfKey(key)], rateLimit: { perSecond, burst: 2 } };
}

function sendAs(key: string, body = CALL): Promise<HttpAnswer> {
  return send(collect.port, { path: '/v1/track', headers: { Authorization: basic(`${key}:`) }, body });
}

async function statusesOf(keys: string[]): Promise<number[]> {
  return (await Promise.all(keys.map((key) => sendAs(key)))).map(({ status }) => status);
}

async function storedEvents() {
  return (await collect.takeStored()).flatMap(({ events }) => events);
}

function assertAnswer(answer: HttpAnswer, status: number, body: unknown): void {
  assert.deepEqual({ status: answer.status, body: jsonOf(answer) }, { status, body });
}

function assertProblem(answer: HttpAnswer, status: number, code: keyof typeof REQUEST_PROBLEMS): void {
  assertAnswer(answer, status, { success: false, code, message: REQUEST_PROBLEMS[code] });
}
