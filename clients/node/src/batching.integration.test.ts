import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { MAX_BATCH_BYTES, MAX_CALL_BYTES, MAX_CALLS } from '../../../contract/src/limits.ts';
import { serveAnswers } from '../testing/serve-answers.ts';
import { trackMany } from '../testing/watch-calls.ts';
import { InvalidCallError, Millrace } from './index.ts';
import { staysTrueFor, until } from '../../../server/testing/until.ts';

suite('batching', () => {
  test('nothing is sent before the 20th call, then all are', async () => {
    await using server = await serveAnswers();
    const client = new Millrace('key', { endpoint: server.url });
    const sent = new Promise<number>((resolve) => client.on('sent', ({ calls }) => resolve(calls.length)));
    trackMany(client, 19);
    await staysTrueFor(50, () => server.requests.length === 0);
    trackMany(client, 1, 20);
    assert.equal(await sent, 20);
    assert.equal(server.requests.length, 1);
    await client.close();
  });

  test('what is queued is sent flushAfter milliseconds after the last flush', async () => {
    await using server = await serveAnswers();
    await using client = new Millrace('key', { endpoint: server.url, flushAfter: 3_000 });
    const arrivals: number[] = [];
    client.on('sent', () => arrivals.push(performance.now()));
    trackMany(client, 1);
    const flushedAt = performance.now();
    await client.flush();
    await until(() => performance.now() > flushedAt + 1_500);
    const calledAt = performance.now();
    trackMany(client, 1, 2);
    await until(() => arrivals.length === 2);
    const sentAt = arrivals[1] ?? 0;
    assert.ok(sentAt - flushedAt > 2_990, `sent ${sentAt - flushedAt} ms after the flush`);
    assert.ok(sentAt - calledAt < 3_000, `counted from the call: sent ${sentAt - calledAt} ms after it`);
  });

  for (const options of [{ flushAt: 1 }, { size: 1 }]) {
    test(`${JSON.stringify(options)} sends each call at once in a request of its own`, async () => {
      await using server = await serveAnswers();
      const client = new Millrace('key', { endpoint: server.url, ...options });
      const allSent = new Promise<void>((resolve) => {
        client.on('sent', () => server.requests.length === 3 && resolve());
      });
      trackMany(client, 3);
      await allSent;
      assert.deepEqual(
        server.requests.map(({ calls }) => calls.map(({ messageId }) => messageId)),
        [['c1'], ['c2'], ['c3']],
      );
      await client.close();
    });
  }

  test('flushAt wins where size is given, too', async () => {
    await using server = await serveAnswers();
    await using client = new Millrace('key', { endpoint: server.url, size: 1, flushAt: 3 });
    trackMany(client, 2);
    await staysTrueFor(50, () => server.requests.length === 0);
  });

  test('while a request is under way calls gather, and go together and in order', async () => {
    await using server = await serveAnswers(() => ({ status: 200, afterMs: 30 }));
    await using client = new Millrace('key', { endpoint: server.url });
    trackMany(client, 20);
    await until(() => server.requests.length === 1);
    for (let n = 21; n <= 2_000; n += 1) trackMany(client, 1, n);
    await client.flush();
    const ids = server.requests.flatMap(({ calls }) => calls.map(({ messageId }) => messageId));
    assert.deepEqual(
      ids,
      Array.from({ length: 2_000 }, (_, index) => `c${index + 1}`),
    );
    assert.ok(server.requests.length <= 3, `${server.requests.length} requests`);
  });

  test('a call is queued without anything being sent in its caller’s time', async () => {
    await using server = await serveAnswers();
    await using client = new Millrace('key', { endpoint: server.url, flushAt: 1 });
    trackMany(client, 1);
    assert.equal(client.counts.waiting, 1);
    assert.equal(server.requests.length, 0);
  });
});

suite('sizes, whatever the text', () => {
  const letters = fc.constantFrom('i', 'x', '"', '\\', 'é', '✓', '😀', '\ud83d', '\n', '\u2028');

  test('no request is over a limit, none is empty, all calls arrive in order', async () => {
    await using server = await serveAnswers();
    const call = fc.record({ letter: letters, length: fc.integer({ min: 0, max: 12_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 120 }), async (calls) => {
        server.requests.length = 0;
        await using client = new Millrace('key', { endpoint: server.url, flushAt: 10_000, gzip: false });
        const made: string[] = [];
        for (const [index, { letter, length }] of calls.entries()) {
          try {
            client.track({
              userId: 'u1',
              event: 'E',
              messageId: `c${index}`,
              properties: { text: letter.repeat(length) },
            });
            made.push(`c${index}`);
          } catch (error) {
            assert.ok(error instanceof InvalidCallError && error.code === 'call_too_large');
          }
        }
        assert.deepEqual(await client.flush(), { sent: made.length, failed: 0, dropped: 0, kept: 0 });
        for (const { calls, bytes } of server.requests) {
          assert.ok(calls.length > 0 && calls.length <= MAX_CALLS && bytes.length <= MAX_BATCH_BYTES);
          for (const each of calls) assert.ok(Buffer.byteLength(JSON.stringify(each)) <= MAX_CALL_BYTES);
        }
        const arrived = server.requests.flatMap(({ calls }) => calls.map(({ messageId }) => messageId));
        assert.deepEqual(arrived, made);
      }),
      { numRuns: 40 },
    );
  });
});
