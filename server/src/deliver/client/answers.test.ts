import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { type Behave, OK, ok, openRawReceiver } from '../../../testing/raw-receiver.ts';

const says =
  (text: string | Buffer): Behave =>
  (socket) =>
    void socket.write(text);
const endless =
  (head: string, line: string): Behave =>
  (socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write(line));
    };
    socket.on('drain', pour).write(head);
    pour();
  };

suite('the answer to a POST', () => {
  test('is the status, whatever it is', async () => {
    await using client = openTestClient();
    for (const status of [200, 204, 299, 400, 401, 404, 408, 410, 429, 500, 503, 599]) {
      const length = status === 204 ? '' : 'content-length: 0\r\n';
      await using receiver = await openRawReceiver(says(`HTTP/1.1 ${status} Word\r\n${length}\r\n`));
      assert.equal(wordFor(await postTo(client, receiver.url)), status);
    }
  });

  test('carries the body, the address and its times', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    const answer = await postTo(client, receiver.url);
    assert.ok(answer.kind === 'status');
    assert.equal(answer.body, 'ok');
    assert.equal(answer.address, '127.0.0.1');
    assert.ok((answer.timings.connectMs ?? -1) >= 0);
    assert.ok((answer.timings.firstByteMs ?? -1) >= 0);
    assert.ok(answer.timings.totalMs >= (answer.timings.firstByteMs ?? Infinity));
    const second = await postTo(client, receiver.url);
    assert.equal(second.timings.connectMs, undefined, 'the connection was there already');
  });

  test('carries Retry-After as it was sent', async () => {
    await using client = openTestClient();
    for (const value of ['120', 'Wed, 21 Oct 2026 07:28:00 GMT', 'soon']) {
      const head = `HTTP/1.1 429 Slow\r\nRetry-After: ${value}\r\ncontent-length: 0\r\n\r\n`;
      await using receiver = await openRawReceiver(says(head));
      const answer = await postTo(client, receiver.url);
      assert.equal(answer.kind === 'status' && answer.retryAfter, value);
    }
  });

  test('S20: is the redirect itself, which nobody follows', async () => {
    await using client = openTestClient();
    await using elsewhere = await openRawReceiver(ok);
    for (const status of [301, 302, 303, 307, 308]) {
      const head = `HTTP/1.1 ${status} There\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`;
      await using receiver = await openRawReceiver(says(head));
      assert.equal(wordFor(await postTo(client, receiver.url)), status);
    }
    assert.equal(elsewhere.sockets.length, 0);
  });

  test('is the same whether the body came in text or in bytes', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    for (const body of ['{"name":"Zoë"}', Buffer.from('{"name":"Zoë"}')]) {
      assert.equal(wordFor(await postTo(client, receiver.url, { body })), 200);
    }
    const [text, bytes] = receiver.received;
    assert.equal(text?.body, bytes?.body);
    assert.match(text?.head ?? '', /^POST \/hook HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/);
  });
});

suite('a receiver at an IPv6 address', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all = []) => all.some(({ address }) => address === '::1'));
  test('gets its POST too', { skip: !hasIpv6 && 'this machine has no ::1' }, async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok, { host: '::1' });
    const answer = await postTo(client, receiver.url);
    assert.equal(wordFor(answer), 200);
    assert.equal(answer.address, '::1');
    assert.match(receiver.received[0]?.head ?? '', /\r\nhost: \[::1\]:\d+\r\n/);
  });
});

suite('a rude receiver', () => {
  const rude: [what: string, behave: Behave, word: number | string][] = [
    ['resets before the head', (socket) => void socket.resetAndDestroy(), 'connection_reset'],
    ['closes before the head', (socket) => void socket.end(), 'connection_reset'],
    ['closes inside the head', (socket) => void socket.end('HTTP/1.1 200 OK\r\nx: '), 'connection_reset'],
    ['speaks garbage', says('SSH-2.0-OpenSSH_9.9\r\n'), 'bad_response'],
    ['speaks HTTP/2', says(Buffer.from('000000040000000000', 'hex')), 'bad_response'],
    ['sends 100 unasked', says('HTTP/1.1 100 Continue\r\n\r\n'), 'bad_response'],
    ['upgrades', says('HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'), 'bad_response'],
    ['sends endless headers', endless('HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1_000)}\r\n`), 'bad_response'],
    ['sends one endless header', endless('HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(1_000)), 'bad_response'],
    ['sends an endless body', endless('HTTP/1.1 500 No\r\n\r\n', 'y'.repeat(10_000)), 500],
    [
      'promises more body than it sends',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
      200,
    ],
    ['breaks its chunks', says('HTTP/1.1 202 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'), 202],
  ];
  for (const [what, behave, word] of rude) {
    test(`that ${what} gets "${word}" and keeps no connection`, async () => {
      await using client = openTestClient({ timeoutMs: 2_000 });
      await using receiver = await openRawReceiver(behave);
      const answer = await postTo(client, receiver.url);
      assert.equal(wordFor(answer), word, JSON.stringify(answer));
      await receiver.received[0]?.closedAt;
      assert.equal(receiver.received.length, 1, 'sent once');
      await isEmpty(client);
    });
  }

  test('that resets after the head does not change the status', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver((socket) => {
      socket.write('HTTP/1.1 201 Made\r\ncontent-length: 50\r\n\r\nhalf', () =>
        setImmediate(() => socket.resetAndDestroy()),
      );
    });
    assert.equal(wordFor(await postTo(client, receiver.url)), 201);
  });

  test('cannot make us keep more than 16 KiB of its body', async () => {
    await using client = openTestClient();
    const body = 'é'.repeat(20_000);
    await using receiver = await openRawReceiver(says(`HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n${body}`));
    const answer = await postTo(client, receiver.url);
    assert.equal(answer.kind === 'status' && answer.body, 'é'.repeat(8_192));
    await receiver.received[0]?.closedAt;
  });

  test('S29: cannot make us unpack a gzip bomb', async () => {
    await using client = openTestClient();
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    await using receiver = await openRawReceiver(
      (socket) => void socket.write(Buffer.concat([Buffer.from(head), bomb])),
    );
    const answer = await postTo(client, receiver.url);
    assert.ok(answer.kind === 'status' && answer.body.length <= 16_384);
    assert.equal(answer.body.slice(0, 1), bomb.toString('utf8', 0, 1));
  });

  test('S28: cannot answer the next POST with a second response', async () => {
    await using client = openTestClient();
    const twice = `${OK}HTTP/1.1 418 Planted\r\ncontent-length: 0\r\n\r\n`;
    await using receiver = await openRawReceiver((socket) => void socket.write(twice));
    for (const _ of [1, 2, 3]) assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.sockets.length, 3, 'each on a connection of its own');
  });
});
