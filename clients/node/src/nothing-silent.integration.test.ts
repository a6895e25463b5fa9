/** Each call ends as sent, failed or dropped for any behaviour of the service, listeners hear of it, and the sum is right. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Answering, type AnswerServer, DEAD_URL, serveAnswers } from '../testing/serve-answers.ts';
import { trackMany, watchCalls } from '../testing/watch-calls.ts';
import { Millrace, NotSentError, type Options } from './index.ts';
import { until } from '../../../server/testing/until.ts';

const QUICK: Options = { minRetryMs: 1, maxRetryMs: 5 };
const CALLS = 50;

type Trouble = {
  name: string;
  answers: (number: number) => Answering;
  /** Given only where an answer does not come: elsewhere a short one would be a bet on the machine. */
  timeoutMs?: number;
  ends: 'sent' | 'failed';
  code?: string;
  requests: number;
};

/** 50 calls are one batch, so the number of requests is the number of tries. */
const TROUBLES: Trouble[] = [
  { name: 'a slow answer is awaited', answers: () => ({ status: 200, afterMs: 300 }), ends: 'sent', requests: 1 },
  { name: '400 is final', answers: () => 400, ends: 'failed', code: 'http_400', requests: 1 },
  {
    name: '401 is final and says why',
    answers: () => ({ status: 401, body: '{"success":false,"code":"invalid_write_key","message":"Unknown."}' }),
    ends: 'failed',
    code: 'invalid_write_key',
    requests: 1,
  },
  { name: '404 is final', answers: () => 404, ends: 'failed', code: 'http_404', requests: 1 },
  { name: 'a redirect is not followed', answers: () => 302, ends: 'failed', code: 'http_302', requests: 1 },
  { name: '408 is tried again', answers: (n) => (n === 1 ? 408 : 200), ends: 'sent', requests: 2 },
  { name: '429 is tried again', answers: (n) => (n < 3 ? 429 : 200), ends: 'sent', requests: 3 },
  { name: '500 is tried again', answers: (n) => (n < 3 ? 500 : 200), ends: 'sent', requests: 3 },
  { name: '503 ten times is enough', answers: () => 503, ends: 'failed', code: 'http_503', requests: 10 },
  { name: 'a reset is tried again', answers: (n) => (n === 1 ? 'reset' : 200), ends: 'sent', requests: 2 },
  {
    name: 'resets without end are given up',
    answers: () => 'reset',
    ends: 'failed',
    code: 'network_error',
    requests: 10,
  },
  {
    name: 'no answer is tried again',
    answers: (n) => (n === 1 ? 'hang' : 200),
    timeoutMs: 1_500,
    ends: 'sent',
    requests: 2,
  },
  {
    name: 'no answer, ever, is given up',
    answers: () => 'hang',
    timeoutMs: 500,
    ends: 'failed',
    code: 'network_error',
    requests: 10,
  },
];

suite('nothing is silent', () => {
  for (const { name, answers, timeoutMs, ends, code, requests } of TROUBLES) {
    test(name, async () => {
      await using server = await serveAnswers((_, number) => answers(number));
      const options = timeoutMs === undefined ? QUICK : { ...QUICK, timeoutMs };
      await using client = new Millrace('key', { ...options, endpoint: server.url });
      const watched = watchCalls(client);
      trackMany(client, CALLS);
      const counts = await client.flush();
      assert.deepEqual(counts, { sent: 0, failed: 0, dropped: 0, kept: 0, [ends]: CALLS });
      assert.equal(new Set(watched[ends]).size, CALLS);
      assert.deepEqual([...watched.codes], code === undefined ? [] : [code]);
      await arrived(server, requests);
      assert.equal(server.requests.length, requests);
      const [first] = server.requests;
      for (const [index, { bytes, headers }] of server.requests.entries()) {
        assert.deepEqual(bytes, first?.bytes, 'every try has the same bytes');
        assert.equal(headers['x-retry-count'], index === 0 ? undefined : String(index));
      }
    });
  }

  test('a service that is down fails the calls after the last try', async () => {
    await using client = new Millrace('key', { ...QUICK, endpoint: DEAD_URL });
    const watched = watchCalls(client);
    trackMany(client, CALLS);
    assert.deepEqual(await client.flush(), { sent: 0, failed: CALLS, dropped: 0, kept: 0 });
    assert.deepEqual([watched.failed.length, [...watched.codes]], [CALLS, ['network_error']]);
  });

  for (const status of [429, 503]) {
    test(`Retry-After is waited for after ${status}`, async () => {
      const times: number[] = [];
      await using server = await serveAnswers((_, number) => {
        times.push(performance.now());
        return number === 1 ? { status, headers: { 'Retry-After': '1' } } : 200;
      });
      await using client = new Millrace('key', { ...QUICK, endpoint: server.url });
      trackMany(client, 1);
      assert.equal((await client.flush()).sent, 1);
      assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990, 'a second has passed');
    });
  }

  test('413 splits the batch until it fits; a single call that does not fit fails', async () => {
    await using server = await serveAnswers(({ calls }) =>
      calls.length > 10 || calls.some(({ messageId }) => messageId === 'c7') ? 413 : 200,
    );
    await using client = new Millrace('key', { ...QUICK, endpoint: server.url });
    const watched = watchCalls(client);
    trackMany(client, CALLS);
    assert.deepEqual(await client.flush(), { sent: CALLS - 1, failed: 1, dropped: 0, kept: 0 });
    assert.deepEqual(watched.failed, ['c7']);
    assert.deepEqual([...watched.codes], ['http_413']);
  });

  test('calls refused one by one inside a 200 fail with their code, the others are sent', async () => {
    const rejected = [
      { index: 1, messageId: 'c2', code: 'too_deep', message: 'Too deep.' },
      { index: 3, messageId: 'c4', code: 'event_not_defined', message: 'No event.' },
    ];
    const body = JSON.stringify({ success: true, accepted: CALLS - 2, rejected });
    await using server = await serveAnswers(() => ({ status: 200, body }));
    await using client = new Millrace('key', { ...QUICK, endpoint: server.url });
    const watched = watchCalls(client);
    trackMany(client, CALLS);
    assert.deepEqual(await client.flush(), { sent: CALLS - 2, failed: 2, dropped: 0, kept: 0 });
    assert.deepEqual(watched.failed, ['c2', 'c4']);
    assert.deepEqual([...watched.codes], ['too_deep', 'event_not_defined']);
  });
});

/** A try that got no answer in time may be over before the server has read it. */
async function arrived(server: AnswerServer, requests: number): Promise<void> {
  await until(() => server.requests.length >= requests);
}

suite('a full queue', () => {
  const limits: [string, Options][] = [
    ['maxQueueCalls', { maxQueueCalls: 30 }],
    ['maxQueueBytes', { maxQueueBytes: 30 * 150 }],
  ];
  for (const [name, limit] of limits) {
    for (const whenFull of ['dropNewest', 'dropOldest'] as const) {
      test(`${name} with ${whenFull}: what is dropped is told, the rest is sent`, async () => {
        await using server = await serveAnswers();
        await using client = new Millrace('key', { ...limit, whenFull, endpoint: server.url, flushAt: 1_000 });
        const watched = watchCalls(client);
        trackMany(client, 100);
        const { dropped } = client.counts;
        assert.ok(dropped >= 70 && watched.dropped.length === dropped, 'told at once');
        assert.deepEqual([...watched.codes], ['queue_full']);
        const counts = await client.flush();
        assert.deepEqual(counts, { sent: 100 - dropped, failed: 0, dropped, kept: 0 });
        const first = server.requests[0]?.calls[0]?.messageId;
        assert.equal(first, whenFull === 'dropNewest' ? 'c1' : `c${dropped + 1}`);
      });
    }
  }

  test('calls on their way are not dropped to make room', async () => {
    await using server = await serveAnswers(() => ({ status: 200, afterMs: 300 }));
    await using client = new Millrace('key', {
      endpoint: server.url,
      flushAt: 5,
      maxQueueCalls: 5,
      whenFull: 'dropOldest',
    });
    const watched = watchCalls(client);
    trackMany(client, 5);
    await until(() => server.requests.length === 1);
    trackMany(client, 3, 6);
    await client.flush();
    assert.deepEqual(watched.dropped, ['c6', 'c7', 'c8']);
    assert.equal(watched.sent.length, 5);
  });

  test('onError hears of failed and dropped calls, and may throw', async () => {
    const heard: string[] = [];
    await using server = await serveAnswers(() => 400);
    await using client = new Millrace('key', {
      endpoint: server.url,
      maxQueueCalls: 1,
      onError(event) {
        heard.push(`${event.kind} ${event.code} ${event.calls[0]?.messageId}`);
        throw new Error('a listener of the test throws');
      },
    });
    trackMany(client, 2);
    assert.deepEqual(await client.flush(), { sent: 0, failed: 1, dropped: 1, kept: 0 });
    assert.deepEqual(heard, ['dropped queue_full c2', 'failed http_400 c1']);
  });
});

suite('now', () => {
  test('resolves when the call is stored', async () => {
    await using server = await serveAnswers();
    await using client = new Millrace('key', { endpoint: server.url });
    await client.now.track({ userId: 'u1', event: 'E', messageId: 'c1' });
    assert.deepEqual([...server.storedIds()], ['c1']);
    assert.equal(client.counts.sent, 1);
  });

  test('rejects with the code when it was not, and it is counted', async () => {
    await using server = await serveAnswers(() => 401);
    await using client = new Millrace('key', { endpoint: server.url });
    const watched = watchCalls(client);
    await assert.rejects(
      client.now.identify({ userId: 'u1' }),
      (error) => error instanceof NotSentError && error.code === 'http_401',
    );
    assert.equal(watched.failed.length, 1);
    assert.deepEqual(await client.flush(), { sent: 0, failed: 1, dropped: 0, kept: 0 });
  });

  test('rejects a call that breaks the contract', async () => {
    await using client = new Millrace('key');
    await assert.rejects(client.now.track({ userId: 'u1', event: '' }), /no event name/);
  });
});
