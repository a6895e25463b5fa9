import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { ANSWER_LIMITS } from './limit-answer.ts';
import { type Behave, OK, openRawReceiver } from '../../../testing/raw-receiver.ts';

/** As fast as the socket takes it, and without an end. */
const flood =
  (head: string, part: string): Behave =>
  (socket) => {
    const parts = part.repeat(Math.ceil(65_536 / part.length));
    const pour = (): void => {
      while (!socket.destroyed && socket.write(parts));
    };
    socket.on('drain', pour).write(head);
    pour();
  };

/** Byte by byte, each in a packet of its own. */
const drip =
  (text: string): Behave =>
  (socket) => {
    socket.setNoDelay(true);
    const write = async (): Promise<void> => {
      for (let at = 0; at < text.length && !socket.destroyed; at += 1) {
        socket.write(text.charAt(at));
        await nextTurn();
      }
    };
    void write();
  };

const HINTS = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

suite('a receiver that floods', () => {
  const floods: [what: string, behave: Behave, word: number | string][] = [
    ['1xx answers', flood('', HINTS), 'answer_too_large'],
    ['1xx answers with headers', flood('', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'), 'answer_too_large'],
    [
      '102 answers in one packet',
      (socket) => void socket.write('HTTP/1.1 102 P\r\n\r\n'.repeat(2_000)),
      'answer_too_large',
    ],
    ['empty lines before the head', flood('', '\r\n'), 'answer_too_large'],
    ['a reason phrase', flood('HTTP/1.1 200 ', 'y'), 'answer_too_large'],
    ['one-byte chunks', flood(CHUNKED, '1\r\nx\r\n'), 200],
    ['the extension of a chunk', flood(`${CHUNKED}1;`, 'y'), 200],
    ['the digits of a chunk', flood(CHUNKED, '0'), 200],
    ['trailers', flood(`${CHUNKED}0\r\n`, 'x: y\r\n'), 200],
    ['a body', flood('HTTP/1.1 503 No\r\n\r\n', 'y'), 503],
    ['answers that nobody asked for', flood('', OK), 200],
  ];
  for (const [what, behave, word] of floods) {
    test(`${what} without an end gets "${word}" long before its time is up, and keeps no connection`, async () => {
      await using client = openTestClient({ timeoutMs: 60_000 });
      await using receiver = await openRawReceiver(behave);
      const answer = await postTo(client, receiver.url);
      assert.equal(wordFor(answer), word, JSON.stringify(answer));
      await receiver.received[0]?.closedAt;
      assert.equal(receiver.received.length, 1, 'sent once');
      await isEmpty(client);
    });
  }

  test('is named in a sentence that says what it sent', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(flood('', HINTS));
    const answer = await postTo(client, receiver.url);
    assert.ok(answer.kind === 'error');
    assert.match(
      answer.message,
      /^127\.0\.0\.1 sent more than 16 answers of 1xx and no end, so the connection was closed;/,
    );
  });

  test('its body byte by byte has its status, and what came of the body', async () => {
    await using client = openTestClient({ timeoutMs: 60_000 });
    await using receiver = await openRawReceiver(
      drip(`HTTP/1.1 201 Made\r\ncontent-length: 90000\r\n\r\n${'y'.repeat(90_000)}`),
    );
    const answer = await postTo(client, receiver.url);
    assert.ok(answer.kind === 'status' && answer.status === 201);
    assert.match(answer.body, /^y{1,512}$/);
  });
});

suite('a receiver within the limits', () => {
  test('may send some 1xx answers before the real one', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(
      (socket) => void socket.write(HINTS.repeat(ANSWER_LIMITS.informational) + OK),
    );
    for (let post = 0; post < 5; post += 1) assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.sockets.length, 1, 'the limits are those of one POST, not of the connection');
  });

  test('may send a small answer byte by byte, again and again', async () => {
    await using client = openTestClient({ timeoutMs: 60_000 });
    await using receiver = await openRawReceiver(drip(OK));
    for (let post = 0; post < 20; post += 1) assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.sockets.length, 1);
  });

  test('may send its body in pieces, of which each has its place in what is kept', async () => {
    await using client = openTestClient();
    const body = Array.from({ length: 60 }, (_, nth) => `${nth},`);
    const chunks = body.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
    await using receiver = await openRawReceiver((socket) => void socket.write(`${CHUNKED}${chunks}0\r\n\r\n`));
    const answer = await postTo(client, receiver.url);
    assert.equal(answer.kind === 'status' && answer.body, body.join(''));
  });
});
