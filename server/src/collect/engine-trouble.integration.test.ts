/** Collect's answers while the engine is away: never that a call is stored. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { startCollect } from '../../testing/bad-inputs/running-collect.ts';
import { jsonOf, type HttpAnswer, send, sendWithKey } from '../../testing/bad-inputs/send.ts';
import { until } from '../../testing/until.ts';

/** A second is normal. */
const ANSWER_MS = 4_000;
/** The cost of two requests besides their bodies, and one body. */
const ROOM_FOR_ONE = 2 * 4_096 + 60;
const RECOVERY_MS = 15_000;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
const [nats] = collect.cluster.nodes;
assert.ok(nats !== undefined);

suite('while the engine hangs', () => {
  test('calls are answered with 503 in time, and what is held beyond the limit at once', async () => {
    const { port } = await collect.serve({ maxHeldBytes: ROOM_FOR_ONE });
    await nats.kill('SIGSTOP');
    const answered: string[] = [];
    const ask = async (messageId: string) => {
      const answer = await sendTrack(port, messageId);
      answered.push(messageId);
      assertUnavailable(answer);
      assert.ok(answer.tookMs < ANSWER_MS, `took ${answer.tookMs} ms`);
    };
    await Promise.all(['held', 'shed'].map(ask));
    assert.deepEqual(answered, ['shed', 'held'], 'who comes second is answered first');
    await nats.kill('SIGCONT');
    await untilReady();
  });
});

suite('while the engine is gone', () => {
  test('every call is answered with 503 and a time to come back, none with 200', async () => {
    await nats.kill('SIGKILL');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => sendTrack(collect.port, `gone-${index}`)),
    );
    for (const answer of answers) {
      assertUnavailable(answer);
      assert.ok(answer.tookMs < ANSWER_MS, `took ${answer.tookMs} ms`);
    }
  });

  test('the process is alive, but says that it is not ready', async () => {
    assert.equal((await send(collect.port, { method: 'GET', path: '/healthz' })).status, 200);
    const ready = await send(collect.port, { method: 'GET', path: '/readyz' });
    assert.equal(ready.status, 503);
    assert.match(ready.bytes.toString(), /NATS/);
  });

  test('write keys are still told apart, and a bad call is still refused for good', async () => {
    assert.equal((await send(collect.port, { path: '/v1/track', body: '{"writeKey":"nobody"}' })).status, 401);
    assert.equal((await sendWithKey(collect.port, { path: '/v1/track', body: '{}' })).status, 400);
  });

  test('a pixel is an image all the same', async () => {
    const answer = await send(collect.port, { method: 'GET', path: '/v1/pixel/track?data=e30=' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'image/gif');
  });

  test('calls are stored again when it is back, and none of those that were turned away', async () => {
    await nats.start();
    await untilReady();
    assert.equal((await sendTrack(collect.port, 'back')).status, 200);
    const ids = (await collect.takeStored()).flatMap(({ events }) => events.map(({ messageId }) => messageId));
    assert.ok(ids.includes('back'));
    assert.deepEqual(
      ids.filter((id) => id.startsWith('gone-')),
      [],
    );
  });
});

test('the log knows no write key, and of nothing that failed inside', () => {
  assert.deepEqual(collect.failures(), []);
});

function sendTrack(port: number, messageId: string): Promise<HttpAnswer> {
  return sendWithKey(port, { path: '/v1/track', body: JSON.stringify({ messageId, userId: 'u1', event: 'E' }) });
}

function assertUnavailable(answer: HttpAnswer): void {
  assert.equal(answer.status, 503);
  assert.partialDeepStrictEqual(jsonOf(answer), { success: false, code: 'unavailable' });
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
}

async function untilReady(): Promise<void> {
  await until(async () => (await send(collect.port, { method: 'GET', path: '/readyz' })).status === 200, RECOVERY_MS);
}
