/** Bytes on a socket that are no good HTTP, and clients that never finish. */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CALL, post, request } from '../../testing/bad-inputs/raw-case.ts';
import { exchange, openConversation } from '../../testing/bad-inputs/raw-exchange.ts';
import { RAW_REQUESTS } from '../../testing/bad-inputs/raw-http.ts';
import { startCollect, WRITE_KEY } from '../../testing/bad-inputs/running-collect.ts';
import { sendWithKey } from '../../testing/bad-inputs/send.ts';
import { untilSteady } from '../../testing/until.ts';

/** The server's own limits, and the second it needs to notice. */
const HEAD_LIMIT_MS = 5_000 + 2_500;
const BODY_LIMIT_MS = 10_000 + 2_500;
const IDLE_SOCKETS = 1_000;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());

suite('bytes on a socket', () => {
  beforeEach(() => collect.takeStored());

  for (const { name, bytes, answers } of RAW_REQUESTS) {
    test(name, async () => {
      // After bytes that it cannot parse, the server does not know where the next request begins.
      const isClosed = [400, 431].includes(answers.at(-1) ?? 400);
      const answer = await exchange(collect.port, bytes, { answers: answers.length, isClosed });
      assert.deepEqual(answer.statuses, answers, JSON.stringify(answer.text));
      if (isClosed) assert.ok(answer.isClosed, 'the connection is still open');
      assert.deepEqual(await storedNames(), namesOf(bytes, answers));
      await assertAlive();
    });
  }
});

suite('clients that never finish', { concurrency: true }, () => {
  test('one that sends nothing is hung up on', () => assertTimeout('', { thenDrip: '', withinMs: HEAD_LIMIT_MS }));

  test('one that drips its head is hung up on', () =>
    assertTimeout('POST /v1/track HTTP/1.1\r\nHost: a\r\nX-A: ', { thenDrip: 'a', withinMs: HEAD_LIMIT_MS }));

  test('one that drips a body of known length is hung up on', () =>
    assertTimeout(post(['Content-Length: 30000'], '{'), { thenDrip: ' ', withinMs: BODY_LIMIT_MS }));

  test('one that drips chunks is hung up on', () =>
    assertTimeout(post(['Transfer-Encoding: chunked'], '1\r\n{\r\n'), {
      thenDrip: '1\r\n \r\n',
      withinMs: BODY_LIMIT_MS,
    }));

  test('one that drips a body which is already refused is hung up on', async () => {
    const { statuses } = await untilClosed(post(['Content-Length: 600000'], '{'), {
      thenDrip: ' ',
      withinMs: BODY_LIMIT_MS,
    });
    assert.equal(statuses[0], 413);
  });

  test('a thousand silent ones keep nobody else out', async () => {
    const sockets = await Promise.all(Array.from({ length: IDLE_SOCKETS }, () => openConversation(collect.port)));
    await assertAlive();
    await within(Promise.all(sockets.map(({ closed }) => closed)), HEAD_LIMIT_MS);
  });

  test('one that does not read its answers is not read any further', async () => {
    await using conversation = await openConversation(collect.port);
    conversation.socket.pause();
    const asked = request(`GET /v1/projects/${WRITE_KEY}/settings HTTP/1.1`, ['Host: a']);
    conversation.socket.write(asked.repeat(100_000));
    await untilSteady(() => conversation.socket.bytesWritten - conversation.socket.writableLength, 500);
    assert.ok(conversation.socket.writableLength > 0, 'the server took 100,000 requests and holds all their answers');
    await assertAlive();
  });

  test('ones that hang up in the middle of a body leave no trace', async () => {
    for (const bytes of [post(['Content-Length: 30000'], CALL), post(['Transfer-Encoding: chunked'], '5\r\n{')]) {
      const conversation = await openConversation(collect.port);
      conversation.socket.write(bytes);
      // An answer to a later call shows that the server has read these bytes.
      await assertAlive();
      conversation.socket.resetAndDestroy();
      await conversation.closed;
    }
    await assertAlive();
  });
});

test('none of them made anything fail inside', () => {
  assert.deepEqual(collect.failures(), []);
});

/** Each call that was answered with 200, and nothing that was hidden in it. */
function namesOf(bytes: string | Buffer, answers: number[]): string[] {
  const isCall = bytes.toString().trimStart().startsWith('POST ');
  return isCall ? answers.filter((status) => status === 200).map(() => 'Sent raw') : [];
}

async function storedNames(): Promise<unknown[]> {
  return (await collect.takeStored()).flatMap(({ events }) => events.map(({ event }) => event));
}

type Dripping = { thenDrip: string; withinMs: number };

async function assertTimeout(bytes: string, dripping: Dripping): Promise<void> {
  assert.deepEqual((await untilClosed(bytes, dripping)).statuses, [408]);
  await assertAlive();
}

async function untilClosed(bytes: string, { thenDrip, withinMs }: Dripping) {
  await using conversation = await openConversation(collect.port);
  const { socket, closed } = conversation;
  socket.write(bytes);
  const drip = setInterval(() => socket.write(thenDrip), 200);
  await within(closed, withinMs).finally(() => clearInterval(drip));
  return conversation.answer();
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  const isDone = await Promise.race([promise.then(() => true), sleep(ms, false, { ref: false })]);
  assert.ok(isDone, `still open after ${ms} ms`);
}

async function assertAlive(): Promise<void> {
  const answer = await sendWithKey(collect.port, { path: '/v1/track', body: '{"userId":"u1","event":"Alive"}' });
  assert.equal(answer.status, 200);
}
