/** Invariants of every possible request, tried with thousands of random ones. */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import * as fc from 'fast-check';
import { acceptRequest, type AcceptedEvent, CALL_TYPES, type RequestShape, webhookBody } from '@millrace/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { CALL, post } from '../../testing/bad-inputs/raw-case.ts';
import { openConversation } from '../../testing/bad-inputs/raw-exchange.ts';
import {
  mutate,
  mutatedBatches,
  mutations,
  randomBytes,
  randomCalls,
  randomJson,
  randomRequests,
} from '../../testing/bad-inputs/random-requests.ts';
import { startCollect, type Stored, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { jsonOf, type HttpAnswer, send, sendWithKey, type ToSend } from '../../testing/bad-inputs/send.ts';
import { until } from '../../testing/until.ts';

const SLOWEST_MS = 2_000;
/** A machine that stands still for a second looks like an engine that does, and collect says so, as it should. */
const MOST_STALLS = 3;
let stalls = 0;

const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
beforeEach(() => collect.takeStored());

suite('whatever is sent, the answer is right and only what was answered with 200 is stored', () => {
  test('for bytes without sense', () => hold(randomBytes, 500));
  test('for any JSON', () => hold(randomJson, 500));
  test('for calls with anything in their fields', () => hold(randomCalls, 1_000));
  test('for good batches with a few bytes changed', () => hold(mutatedBatches, 1_000));
  test('for any method, path and headers', () => hold(randomRequests, 1_000));

  test('for good HTTP with a few bytes changed', async () => {
    const request = Buffer.from(post([`Content-Length: ${CALL.length}`, 'Content-Type: application/json'], CALL));
    await tryWith(100, mutations, async (changes) => {
      await using conversation = await openConversation(collect.port);
      conversation.socket.write(mutate(request, changes));
      await Promise.race([conversation.heard(), sleep(20)]);
      const { statuses, text } = conversation.answer();
      if (statuses.includes(503)) return await awaitEngine(text);
      for (const status of statuses) assert.ok(status < 500, text);
    });
    const alive = await sendWithKey(collect.port, { path: '/v1/track', body: CALL });
    assert.equal(alive.status, 200);
  });

  test('and nothing failed behind the answers', () => {
    assert.deepEqual(unhandled, []);
    assert.deepEqual(collect.failures(), []);
  });
});

async function hold(requests: fc.Arbitrary<ToSend>, runs: number): Promise<void> {
  await tryWith(runs, requests, async (request) => {
    const answer = await sendUntilTaken(request);
    checkAnswer(request, answer);
    // Reading the stream is slow; a trace of a refused request is found with the next one that is stored.
    if (answer.status === 200) checkStored(request, { answer, messages: await collect.takeStored() });
  });
  assert.deepEqual(await collect.takeStored(), [], 'a refused request was stored');
}

/** Sends a request again while the engine cannot take it, as clients do. */
async function sendUntilTaken(request: ToSend): Promise<HttpAnswer> {
  for (;;) {
    const answer = await send(collect.port, request);
    if (answer.status !== 503) return answer;
    await awaitEngine(answer.bytes.toString());
  }
}

async function awaitEngine(said: string): Promise<void> {
  stalls += 1;
  assert.ok(stalls <= MOST_STALLS && said.includes('"code":"unavailable"'), `stall ${stalls}: ${said}`);
  await until(async () => (await send(collect.port, { method: 'GET', path: '/readyz' })).status === 200);
}

/** A run that fails prints its seed and the smallest input that fails. */
async function tryWith<T>(runs: number, inputs: fc.Arbitrary<T>, check: (input: T) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(inputs, check), { numRuns: runs });
}

function checkAnswer({ method }: ToSend, answer: HttpAnswer): void {
  assert.ok(answer.status < 500, `answered ${answer.status}: ${answer.bytes.toString()}`);
  assert.ok(answer.tookMs < SLOWEST_MS, `took ${answer.tookMs} ms`);
  if (answer.headers['content-type'] === 'image/gif' || answer.status === 204 || method === 'HEAD') return;
  assert.equal(answer.headers['content-type'], 'application/json');
  jsonOf(answer);
}

type Outcome = { answer: HttpAnswer; messages: Stored[] };

function checkStored(request: ToSend, { answer, messages }: Outcome): void {
  for (const message of messages) checkMessage(message);
  const { method = 'POST', path } = request;
  const shape = shapeOf(path);
  if (method !== 'POST' || shape === undefined) {
    assert.ok(messages.length === 0 || path.startsWith('/v1/pixel/'));
    return;
  }
  assertStoredOnce(messages);
  const { rejected = [] } = jsonOf(answer) as { rejected?: { index: number }[] };
  const refused = rejected.map(({ index }) => index);
  const isBrowser = /^.v1.[a-z](\W|$)/.test(path) || request.headers?.['Origin'] !== undefined;
  const sender = { address: '127.0.0.1', browser: isBrowser };
  for (const { events } of messages) {
    assert.ok(events.length > 0, 'answered 200, and no event is stored');
    const expected = acceptRequest(JSON.parse(textOf(request)), { shape, refused, ...sender, ...knownOf(events) });
    assert.equal(JSON.stringify(events), JSON.stringify(expected), 'stored otherwise than it was sent');
  }
}

/** A request that moved on from a stream that gave no answer may lie in both: docs/inside/guarantees.md. */
function assertStoredOnce(messages: Stored[]): void {
  const streams = new Set(messages.map(({ stream }) => stream));
  assert.equal(messages.length, Math.max(1, streams.size), 'answered 200, and not stored once');
  assert.ok(messages.length === 1 || collect.troubles().length > 0, 'in two streams without need');
}

function shapeOf(path: string): RequestShape | undefined {
  const [, name = ''] = /^\/v1\/([a-z]+)\/?(?:\?|$)/.exec(path) ?? [];
  if (['batch', 'import', 'b'].includes(name)) return 'batch';
  return CALL_TYPES.find((type) => type === name || type.slice(0, 1) === name);
}

/** The facts that only the server knew. */
function knownOf(events: AcceptedEvent[]): { receivedAt: string; requestId: string } {
  const made = events.find(({ messageId }) => /^[0-9a-f]{32}-\d+$/.test(messageId));
  return { receivedAt: events[0]?.receivedAt ?? '', requestId: made?.messageId.slice(0, 32) ?? '' };
}

function textOf({ body = '', headers = {} }: ToSend): string {
  const isGzip = /^(x-)?gzip$/i.test(String(headers['Content-Encoding'] ?? ''));
  return (isGzip ? gunzipSync(body) : body).toString();
}

function checkMessage({ head, bytes, events }: Stored): void {
  assert.ok(!head.includes(WRITE_KEY) && !bytes.includes(WRITE_KEY), 'the write key is stored');
  for (const event of events) {
    for (const text of [JSON.stringify(event), webhookBody(event, 'documented'), webhookBody(event, 'full')]) {
      assert.equal(JSON.stringify(JSON.parse(text)), text);
      assert.ok(!text.includes(WRITE_KEY), 'the write key is in an event');
    }
  }
}
