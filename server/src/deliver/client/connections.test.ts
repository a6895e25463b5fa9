import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { type Behave, OK, ok, openRawReceiver } from '../../../testing/raw-receiver.ts';
import { until } from '../../../testing/until.ts';

const afterAll =
  (count: number): Behave =>
  (socket) => {
    together.push(() => socket.write(OK));
    if (together.length === count) for (const answer of together.splice(0)) answer();
  };
const fail: Behave = (socket) => void socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n');
const together: (() => void)[] = [];

suite('a connection', () => {
  test('is used again by the same workspace', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    for (let nth = 0; nth < 20; nth++) assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.sockets.length, 1);
    assert.deepEqual(client.stats(), { inFlight: 0, pools: 1, sockets: 1 });
  });

  test('is never shared between workspaces', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    for (const workspaceId of ['ws_one', 'ws_two', 'ws_one', 'ws_two']) {
      await postTo(client, receiver.url, { workspaceId });
    }
    assert.equal(receiver.sockets.length, 2);
  });

  test('carries one POST at a time', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(afterAll(10));
    const answers = await Promise.all(Array.from({ length: 10 }, () => postTo(client, receiver.url)));
    assert.ok(answers.every((answer) => wordFor(answer) === 200));
    assert.equal(receiver.sockets.length, 10);
  });

  test('is waited for when the origin has as many as it may have', async () => {
    await using client = openTestClient({ maxConnectionsPerOrigin: 3 });
    await using receiver = await openRawReceiver((...given) => void setTimeout(() => ok(...given), 20));
    const answers = await Promise.all(Array.from({ length: 30 }, () => postTo(client, receiver.url)));
    assert.ok(answers.every((answer) => wordFor(answer) === 200));
    assert.equal(receiver.sockets.length, 3);
  });

  test('is shared by the POSTs of a batch when the receiver is fast', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    await postTo(client, receiver.url);
    await Promise.all(Array.from({ length: 20 }, () => postTo(client, receiver.url)));
    // A few; more when the machine keeps stopping, but some are free again before each POST has its own.
    assert.ok(receiver.sockets.length < 20, `${receiver.sockets.length} connections for 20 POSTs`);
  });

  test('is opened for each of them when the receiver is slow', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(() => undefined);
    const posts = Array.from({ length: 20 }, () => postTo(client, receiver.url));
    await until(() => receiver.received.length === 20);
    await client[Symbol.asyncDispose]();
    await Promise.all(posts);
  });

  test('is not kept when the receiver says close', async () => {
    await using client = openTestClient({ maxConnectionsPerOrigin: 2 });
    const bye = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
    await using receiver = await openRawReceiver((socket) => void socket.end(bye));
    const answers = await Promise.all(Array.from({ length: 10 }, () => postTo(client, receiver.url)));
    assert.ok(answers.every((answer) => wordFor(answer) === 200));
    assert.equal(receiver.sockets.length, 10);
  });

  test('is closed after idlePoolMs, and its pool with it', async () => {
    await using client = openTestClient({ idlePoolMs: 50 });
    await using receiver = await openRawReceiver(ok);
    await postTo(client, receiver.url);
    await receiver.received[0]?.closedAt;
    await isEmpty(client);
  });

  test('is closed when too many others idle, the oldest first', async () => {
    await using client = openTestClient({ maxIdleConnections: 2 });
    await using receiver = await openRawReceiver(ok);
    for (const workspaceId of ['ws_1', 'ws_2', 'ws_3']) await postTo(client, receiver.url, { workspaceId });
    await receiver.received[0]?.closedAt;
    await until(() => client.stats().pools === 2 && client.stats().sockets === 2);
  });

  test('to a receiver that does not work is closed before all others, however new it is', async () => {
    await using client = openTestClient({ maxIdleConnections: 2 });
    await using working = await openRawReceiver(ok);
    await using failing = await openRawReceiver(fail);
    await postTo(client, working.url, { workspaceId: 'ws_1' });
    for (const workspaceId of ['ws_1', 'ws_2', 'ws_3']) await postTo(client, failing.url, { workspaceId });
    await failing.received[1]?.closedAt;
    assert.equal(wordFor(await postTo(client, working.url, { workspaceId: 'ws_1' })), 200);
    assert.equal(working.sockets.length, 1);
  });
});

suite('a connection that the receiver closed while it was idle', () => {
  test('is replaced when the next POST comes', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(ok);
    await postTo(client, receiver.url);
    receiver.sockets[0]?.destroy();
    assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.received.length, 2);
  });

  for (const [how, close] of Object.entries<Behave>({
    'closed in order': (socket) => void socket.end(),
    reset: (socket) => void socket.resetAndDestroy(),
  })) {
    test(`costs one more try on a new one when it was ${how} under the POST`, async () => {
      await using client = openTestClient();
      await using receiver = await openRawReceiver((socket, nth, request) =>
        nth === 1 ? ok(socket, nth, request) : close(socket, nth, request),
      );
      assert.equal(wordFor(await postTo(client, receiver.url)), 200);
      const answer = await postTo(client, receiver.url);
      assert.equal(wordFor(answer), 200);
      assert.ok(answer.timings.connectMs !== undefined, 'this POST opened the new connection');
      assert.equal(receiver.received.length, 3);
    });
  }

  test('costs one more try, not two', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver((socket) => {
      if (receiver.received.length === 1) socket.write(OK);
      else socket.resetAndDestroy();
    });
    await postTo(client, receiver.url);
    assert.equal(wordFor(await postTo(client, receiver.url)), 'connection_reset');
    assert.equal(receiver.received.length, 3);
  });

  test('costs no second try when a byte of an answer came', async () => {
    await using client = openTestClient();
    await using receiver = await openRawReceiver(
      (socket, nth) => void (nth === 1 ? socket.write(OK) : socket.end('HTTP/1')),
    );
    await postTo(client, receiver.url);
    assert.equal(wordFor(await postTo(client, receiver.url)), 'connection_reset');
    assert.equal(receiver.received.length, 2);
  });
});

suite('new connections', () => {
  test('are opened at the pace that was set', async () => {
    await using client = openTestClient({ maxNewConnectionsPerSecond: 10 });
    await using receiver = await openRawReceiver(ok);
    const startedAt = performance.now();
    const posts = Array.from({ length: 25 }, (_, nth) => postTo(client, receiver.url, { workspaceId: `ws_${nth}` }));
    assert.ok((await Promise.all(posts)).every((answer) => wordFor(answer) === 200));
    // Without TLS: five at once, and twenty more at fifty a second.
    assert.ok(performance.now() - startedAt > 350);
  });

  test('that we had no time to open are not blamed on the receiver', async () => {
    await using client = openTestClient({ maxNewConnectionsPerSecond: 1, timeoutMs: 1_000 });
    await using receiver = await openRawReceiver(ok);
    const posts = Array.from({ length: 20 }, (_, nth) => postTo(client, receiver.url, { workspaceId: `ws_${nth}` }));
    const words = (await Promise.all(posts)).map(wordFor);
    assert.ok(words.filter((word) => word === 200).length >= 1);
    assert.ok(words.filter((word) => word === 'not_sent').length >= 10);
    assert.equal(
      words.filter((word) => word === 200).length,
      receiver.received.length,
      'what was not sent was not sent',
    );
    assert.deepEqual(new Set(words), new Set([200, 'not_sent']));
  });

  test('are not needed when another one becomes free first', async () => {
    await using client = openTestClient({ maxNewConnectionsPerSecond: 0.01 });
    await using receiver = await openRawReceiver(ok);
    const answers = await Promise.all(Array.from({ length: 50 }, () => postTo(client, receiver.url)));
    assert.ok(answers.every((answer) => wordFor(answer) === 200));
    assert.equal(receiver.sockets.length, 1);
  });
});

suite('a client that is disposed', () => {
  test('answers every POST, closes every socket and takes no more', async () => {
    const client = openTestClient({ maxConnectionsPerOrigin: 2 });
    await using receiver = await openRawReceiver(() => undefined);
    const posts = Array.from({ length: 5 }, () => postTo(client, receiver.url));
    const tls = postTo(client, receiver.url.replace('http:', 'https:'));
    await until(() => receiver.received.length === 2 && receiver.sockets.length === 3);
    await client[Symbol.asyncDispose]();
    const words = (await Promise.all(posts)).map(wordFor);
    assert.deepEqual(words, ['stopped', 'stopped', 'not_sent', 'not_sent', 'not_sent']);
    assert.equal(wordFor(await tls), 'not_sent');
    assert.deepEqual(client.stats(), { inFlight: 0, pools: 0, sockets: 0 });
    assert.equal(wordFor(await postTo(client, receiver.url)), 'stopped');
  });
});
