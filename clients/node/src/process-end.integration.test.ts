/** However a process ends while it can still act, each of its calls is heard to be sent, failed or dropped. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { End } from '../testing/make-calls.ts';
import { type Ended, runProgram } from '../testing/run-program.ts';
import { DEAD_URL, serveAnswers } from '../testing/serve-answers.ts';

const CALLS = 30;
/** More than a batch, so that some calls are on their way and others wait. */
const OPTIONS = { flushAt: 20, minRetryMs: 5, maxRetryMs: 20 };

function assertAllHeard({ heard }: Ended): void {
  const all = [...heard.sent, ...heard.failed, ...heard.dropped];
  assert.equal(all.length, CALLS, 'sent + failed + dropped is what was made');
  assert.equal(new Set(all).size, CALLS, 'each call once');
}

suite('a process that ends', () => {
  const waits: [End, number][] = [
    ['just ends', 0],
    ['awaits flush', 0],
    ['is blocked', 0],
  ];
  for (const [end, code] of waits) {
    test(`and ${end} sends everything first`, async () => {
      await using server = await serveAnswers((_, number) =>
        number === 1 ? { status: 503 } : { status: 200, afterMs: 30 },
      );
      const ended = await runProgram({
        options: { ...OPTIONS, endpoint: server.url, timeoutMs: 500 },
        calls: CALLS,
        end,
      });
      assert.equal(ended.code, code, ended.errors);
      assertAllHeard(ended);
      assert.equal(ended.heard.sent.length, CALLS);
      assert.equal(server.storedIds().size, CALLS);
    });
  }

  test('when blocked, it does not take an answer that is there for one that is missing', async () => {
    await using server = await serveAnswers();
    const options = { ...OPTIONS, endpoint: server.url, timeoutMs: 2_000 };
    const ended = await runProgram({ options, calls: CALLS, end: 'is blocked' });
    assert.equal(ended.heard.sent.length, CALLS);
    assert.ok(server.requests.every(({ headers }) => headers['x-retry-count'] === undefined));
  });

  for (const end of ['calls process.exit', 'throws', 'rejects'] as const) {
    test(`and ${end} hears which calls were dropped by that`, async () => {
      await using server = await serveAnswers(() => 'hang');
      const ended = await runProgram({ options: { ...OPTIONS, endpoint: server.url }, calls: CALLS, end });
      assert.equal(ended.code, end === 'calls process.exit' ? 0 : 1);
      assertAllHeard(ended);
      assert.equal(ended.heard.dropped.length, CALLS);
    });
  }

  test('waits for a dead service no longer than exitTimeoutMs, and says what was dropped', async () => {
    const options = {
      ...OPTIONS,
      endpoint: DEAD_URL,
      exitTimeoutMs: 200,
      minRetryMs: 10_000,
      maxRetryMs: 10_000,
    };
    const startedAt = performance.now();
    const ended = await runProgram({ options, calls: CALLS, end: 'just ends' });
    assert.ok(performance.now() - startedAt < 5_000);
    assertAllHeard(ended);
    assert.equal(ended.heard.dropped.length, CALLS);
  });

  test('on SIGTERM it sends everything, then the signal does its work', async () => {
    await using server = await serveAnswers(() => ({ status: 200, afterMs: 30 }));
    const options = { ...OPTIONS, endpoint: server.url, flushAt: 1_000 };
    const ended = await runProgram({ options, calls: CALLS, end: 'waits for a signal' }, (child) =>
      child.kill('SIGTERM'),
    );
    assert.equal(ended.signal, 'SIGTERM');
    assertAllHeard(ended);
    assert.equal(server.storedIds().size, CALLS);
  });

  test('on SIGTERM with a dead service it says what was dropped', async () => {
    const options = {
      ...OPTIONS,
      endpoint: DEAD_URL,
      exitTimeoutMs: 100,
      minRetryMs: 10_000,
      maxRetryMs: 10_000,
    };
    const ended = await runProgram({ options, calls: CALLS, end: 'waits for a signal' }, (child) =>
      child.kill('SIGTERM'),
    );
    assert.equal(ended.signal, 'SIGTERM');
    assertAllHeard(ended);
    assert.equal(ended.heard.dropped.length, CALLS);
  });

  test('leaves the end to an application that listens to SIGTERM itself', async () => {
    await using server = await serveAnswers();
    const options = { ...OPTIONS, endpoint: server.url, flushAt: 1_000 };
    const ended = await runProgram({ options, calls: CALLS, end: 'has its own SIGTERM listener' }, (child) =>
      child.kill('SIGTERM'),
    );
    assert.equal(ended.code, 7);
    assertAllHeard(ended);
    assert.equal(ended.heard.sent.length, CALLS);
  });

  test('with nothing open it ends at once, though its timers and connections were used', async () => {
    await using server = await serveAnswers();
    const startedAt = performance.now();
    const ended = await runProgram({ options: { ...OPTIONS, endpoint: server.url }, calls: 0, end: 'just ends' });
    assert.equal(ended.code, 0);
    assert.ok(performance.now() - startedAt < 4_000);
  });
});
