/** What clients are told while the engine is away: never that their calls are stored. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCollect } from './bad-inputs/running-collect.ts';
import { jsonOf, type Received, send, sendWithKey } from './bad-inputs/send.ts';

const AT_ONCE_MS = 500;
const ANSWER_MS = 1_500;
const RECOVERY_MS = 15_000;

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());
const [nats] = collect.cluster.nodes;
assert.ok(nats !== undefined);

suite('while the engine hangs', () => {
  test('calls are answered with 503 in time, and what is held beyond the limit at once', async () => {
    const { port } = await collect.serve({ maxHeldBytes: 10 });
    await nats.kill('SIGSTOP');
    const answers = await Promise.all(['held', 'shed'].map((messageId) => sendTrack(port, messageId)));
    answers.forEach(assertUnavailable);
    const [soonest = 0, latest = 0] = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    assert.ok(soonest < AT_ONCE_MS, `took ${soonest} ms`);
    assert.ok(latest < ANSWER_MS, `took ${latest} ms`);
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

function sendTrack(port: number, messageId: string): Promise<Received> {
  return sendWithKey(port, { path: '/v1/track', body: JSON.stringify({ messageId, userId: 'u1', event: 'E' }) });
}

function assertUnavailable(answer: Received): void {
  assert.equal(answer.status, 503);
  assert.partialDeepStrictEqual(jsonOf(answer), { success: false, code: 'unavailable' });
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
}

async function untilReady(): Promise<void> {
  const giveUpAt = performance.now() + RECOVERY_MS;
  while ((await send(collect.port, { method: 'GET', path: '/readyz' })).status !== 200) {
    assert.ok(performance.now() < giveUpAt, 'the engine is back, and collect does not notice');
    await sleep(50);
  }
}
