import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Answer } from './open-client.ts';
import { isEmpty, openTestClient, postTo, wordFor } from './client-for-tests.ts';
import { type Behave, openReceiver } from './receiver-for-tests.ts';

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
        await using receiver = await openReceiver(behave);
        const answer = await postTo(client, receiver.url);
        const [request] = receiver.received;
        const heldMs = (await (request?.closedAt ?? Infinity)) - (request?.startedAt ?? 0);
        t.diagnostic(
          `${what}: ${heldMs.toFixed(0)} ms at the receiver, ${answer.timings.totalMs.toFixed(0)} ms for us`,
        );
        assert.equal(wordFor(answer), word, what);
        assert.ok(heldMs > 4_800 && heldMs < 5_100, `${what}: ${heldMs} ms`);
        assert.equal(receiver.received.length, 1, what);
      }),
    );
    await isEmpty(client);
  });
});

suite('the deadline', () => {
  test('covers a name server that never answers', async () => {
    await using client = openTestClient({ timeoutMs: 300, resolve: () => new Promise(() => undefined) });
    await endsInTime(postTo(client, 'http://example.com/'), /resolving its name/);
  });

  test('covers a handshake that never ends, and leaves the rest of the time unused', async () => {
    await using client = openTestClient({ timeoutMs: 1_000 });
    await using receiver = await openReceiver(() => undefined);
    const answer = await postTo(client, receiver.url.replace('http:', 'https:'));
    assert.equal(wordFor(answer), 'timeout');
    assert.match(answer.kind === 'error' ? answer.message : '', /shaking hands/);
    assert.ok(answer.timings.totalMs < 900, 'connecting has a limit of its own');
    await isEmpty(client);
  });

  test('covers a request that nobody reads', async () => {
    await using client = openTestClient({ timeoutMs: 300 });
    await using receiver = await openReceiver(() => undefined);
    const body = Buffer.alloc(20_000_000);
    const answer = postTo(client, receiver.url, { body });
    await endsInTime(answer, /no answer within 0\.[34] s/);
  });

  test('is not prolonged by the second try over a new connection', async () => {
    await using client = openTestClient({ timeoutMs: 400 });
    await using receiver = await openReceiver((socket, nth) => {
      if (receiver.received.length === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      else if (nth === 2) setTimeout(() => socket.destroy(), 200);
    });
    assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    await endsInTime(postTo(client, receiver.url), /no answer within 0\.[34] s/);
    assert.equal(receiver.received.length, 3);
  });
});

async function endsInTime(answered: Promise<Answer>, why: RegExp): Promise<void> {
  const answer = await answered;
  assert.equal(wordFor(answer), 'timeout');
  assert.match(answer.kind === 'error' ? answer.message : '', why);
  assert.ok(answer.timings.totalMs < 700, `${answer.timings.totalMs} ms`);
}
