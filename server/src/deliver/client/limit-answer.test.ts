import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { ANSWER_LIMITS, limitReads, newBudget, SLICE_BYTES } from './limit-answer.ts';

/** A socket that has this much to read. */
async function withBytes(bytes: number, use: (socket: Socket) => void): Promise<void> {
  const server = createServer((peer) => void peer.end(Buffer.alloc(bytes))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  try {
    // Reading starts with the first listener; the bytes stay in the buffer.
    while (socket.readableLength < bytes) await once(socket, 'readable');
    use(socket);
  } finally {
    socket.destroy();
    server.close();
  }
}

function readAll(socket: Socket): Buffer[] {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return chunks;
    chunks.push(chunk);
  }
}

suite('what is read of an answer', () => {
  test('comes to the parser in slices, all of it', async () => {
    const floods: string[] = [];
    await withBytes(10_000, (socket) => {
      const budget = newBudget();
      limitReads(
        socket,
        () => budget,
        (detail) => floods.push(detail),
      );
      const lengths = readAll(socket).map((chunk) => chunk.length);
      assert.ok(Math.max(...lengths) <= SLICE_BYTES, lengths.join());
      assert.equal(Buffer.concat(readAll(socket)).length + lengths.reduce((sum, each) => sum + each, 0), 10_000);
      assert.ok(budget.reads >= ANSWER_LIMITS.reads - 1, 'slices of one read cost one read');
    });
    assert.deepEqual(floods, []);
  });

  test('ends with the slice in which the parser closed the connection', async () => {
    await withBytes(10_000, (socket) => {
      const budget = newBudget();
      limitReads(
        socket,
        () => budget,
        () => {},
      );
      assert.equal((socket.read() as Buffer).length, SLICE_BYTES);
      socket.destroy();
      assert.equal(socket.read(), null);
    });
  });
});
