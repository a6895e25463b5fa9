import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { type Behave, openRawReceiver, type RawRequest } from '../../../testing/raw-receiver.ts';
import { until } from '../../../testing/until.ts';

const echo = ({ body }: RawRequest) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const WAYS: Behave[] = [
  ...Array.from({ length: 6 }, (): Behave => (socket, _nth, request) => void socket.write(echo(request))),
  (socket) => void socket.end('HTTP/1.1 204 OK\r\nconnection: close\r\n\r\n'),
  (socket, _nth, request) => void socket.end(echo(request)),
  (socket, _nth, request) => socket.write(echo(request), () => socket.resetAndDestroy()),
  (socket, _nth, request) => void socket.write(echo(request).repeat(2)),
  (socket) => void socket.write(`HTTP/1.1 500 No\r\n\r\n${'x'.repeat(40_000)}`),
  (socket) => void socket.end('HTTP/1.1 202 OK\r\ncontent-length: 50\r\n\r\nhalf'),
  (socket) => void socket.resetAndDestroy(),
  (socket) => void socket.end(),
  (socket) => void socket.write('garbage\r\n\r\n'),
  () => undefined,
];

suite('whatever receivers do, in whatever order', () => {
  test('each POST gets one answer, its own, is sent once (or twice, when its connection was stale), and nothing is left', async () => {
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    await using client = openTestClient({ timeoutMs: 400, maxConnectionsPerOrigin: 4, maxIdleConnections: 6 });
    await using receiver = await openRawReceiver((...request) => {
      const behave = WAYS[Math.floor(random() * WAYS.length)];
      if (random() < 0.5) behave?.(...request);
      else setTimeout(() => behave?.(...request), random() * 20);
    });
    const words = new Map<number | string, number>();
    const sentTo = async (workspaceId: string, from: number): Promise<void> => {
      for (let nth = from; nth < from + 40; nth++) {
        const body = `post ${nth}.`;
        const answer = await postTo(client, receiver.url, { workspaceId, body });
        if (answer.kind === 'status' && answer.status === 200) assert.equal(answer.body, body, `seed ${seed}`);
        words.set(wordFor(answer), (words.get(wordFor(answer)) ?? 0) + 1);
      }
    };
    const lines = Array.from({ length: 24 }, (_, line) => sentTo(`ws_${line % 3}`, line * 1_000));
    await Promise.all(lines);
    const said = `seed ${seed}: ${JSON.stringify([...words])}`;
    const times = [...Map.groupBy(receiver.received, ({ body }) => body).values()].map(({ length }) => length);
    assert.ok(Math.max(...times) <= 2, said);
    assert.equal(
      [...words.values()].reduce((sum, count) => sum + count),
      24 * 40,
      said,
    );
    const known = new Set([200, 202, 204, 500, 'connection_reset', 'bad_response', 'timeout', 'not_sent']);
    assert.deepEqual(new Set(words.keys()).difference(known), new Set(), said);
    assert.equal(client.stats().inFlight, 0, said);
    await client[Symbol.asyncDispose]();
    await isEmpty(client);
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });
});

/** mulberry32: a failure can be had again from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
