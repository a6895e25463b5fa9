import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './post.ts';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { type Behave, openRawReceiver } from '../../../testing/raw-receiver.ts';

const drip =
  (head: string, piece: string, everyMs: number): Behave =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.once('close', () => clearInterval(timer));
  };

const slow: [what: string, behave: Behave, word: number | string][] = [
  ['hangs', () => undefined, 'timeout'],
  ['drips its head', drip('HTTP/1.1 200 OK\r\nx: ', 'y', 50), 'timeout'],
  ['drips its headers', drip('HTTP/1.1 200 OK\r\n', 'x: y\r\n', 100), 'timeout'],
  ['sends 102 again and again', drip('', 'HTTP/1.1 102 Processing\r\n\r\n', 300), 'timeout'],
  ['sends 103 again and again', drip('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 300), 'timeout'],
  ['drips its body', drip('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'y', 50), 200],
  ['drips its chunks', drip('HTTP/1.1 503 No\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\ny\r\n', 50), 503],
  ['never ends its body', drip('HTTP/1.1 404 No\r\n\r\n', '', 5_000), 404],
];

suite('a POST', () => {
  test('ends within 5.1 s at a receiver that takes its time, in whatever way', async (t) => {
    await using client = openTestClient();
    await Promise.all(
      slow.map(async ([what, behave, word]) => {
        await using receiver = await openRawReceiver(behave);
        const [answer, lateMs] = await Promise.all([postTo(client, receiver.url), lateAfter(5_050)]);
        const [request] = receiver.received;
        const heldMs = (await (request?.closedAt ?? Infinity)) - (request?.startedAt ?? 0);
        t.diagnostic(
          `${what}: ${heldMs.toFixed(0)} ms at the receiver, ${answer.timings.totalMs.toFixed(0)} ms for us`,
        );
        assert.equal(wordFor(answer), word, what);
        assert.ok(heldMs < 5_100 + lateMs, `${what}: ${heldMs} ms, and we were ${lateMs} ms late`);
        assert.ok(answer.timings.totalMs >= 5_000, `${what}: ${answer.timings.totalMs} ms`);
        assert.equal(receiver.received.length, 1, what);
      }),
    );
    await isEmpty(client);
  });
});

suite('the deadline', () => {
  test('covers a name server that never answers', async () => {
    await using client = openTestClient({ timeoutMs: 2_000, resolve: () => new Promise(() => undefined) });
    await endsInTime(postTo(client, 'http://example.com/'), 2_000, /resolving its name/);
  });

  test('covers a handshake that never ends, and leaves the rest of the time unused', async () => {
    await using client = openTestClient({ timeoutMs: 5_000 });
    await using receiver = await openRawReceiver(() => undefined);
    const answer = await postTo(client, receiver.url.replace('http:', 'https:'));
    assert.equal(wordFor(answer), 'timeout');
    assert.match(answer.kind === 'error' ? answer.message : '', /shaking hands/);
    assert.ok(answer.timings.totalMs < 4_500, 'connecting has a limit of its own');
    await isEmpty(client);
  });

  test('covers a request that nobody reads', async () => {
    await using client = openTestClient({ timeoutMs: 2_000 });
    await using receiver = await openRawReceiver(() => undefined);
    const body = Buffer.alloc(20_000_000);
    const answer = postTo(client, receiver.url, { body });
    await endsInTime(answer, 2_000, /no answer within 2 s/);
  });

  test('is not prolonged by the second try over a new connection', async () => {
    await using client = openTestClient({ timeoutMs: 4_000 });
    await using receiver = await openRawReceiver((socket, nth) => {
      if (receiver.received.length === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      else if (nth === 2) setTimeout(() => socket.destroy(), 2_500);
    });
    assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    await endsInTime(postTo(client, receiver.url), 4_000, /no answer within 4 s/);
    assert.equal(receiver.received.length, 3);
  });
});

async function endsInTime(answered: Promise<Answer>, timeoutMs: number, why: RegExp): Promise<void> {
  const answer = await answered;
  assert.equal(wordFor(answer), 'timeout');
  assert.match(answer.kind === 'error' ? answer.message : '', why);
  assert.ok(answer.timings.totalMs < timeoutMs + 1_500, `${answer.timings.totalMs} ms`);
}

/** By how much this process, whose ends of the sockets are all in it, missed a moment shortly after the deadline. */
async function lateAfter(ms: number): Promise<number> {
  const dueAt = performance.now() + ms;
  await sleep(ms);
  return Math.max(0, performance.now() - dueAt);
}
