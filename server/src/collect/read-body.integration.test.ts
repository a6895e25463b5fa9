/** The memory that clients without a known key can take. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, suite, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openMetrics } from '../metrics/open-metrics.ts';
import { startCollect } from '../../testing/bad-inputs/running-collect.ts';
import { until } from '../../testing/until.ts';

const collect = await startCollect();
after(() => collect[Symbol.asyncDispose]());

suite('a body on its way in', () => {
  test('costs what it weighs, also in a hundred thousand pieces', async () => {
    const metrics = openMetrics();
    const { port } = await collect.serve({}, metrics);
    const before = heldBytes();
    const pieces = Buffer.from('1\r\n \r\n'.repeat(100_000));
    const sockets = await Promise.all(Array.from({ length: 4 }, () => open(port, 'Transfer-Encoding: chunked')));
    for (const socket of sockets) await new Promise((written) => socket.write(pieces, written));
    // Until then Node has them, and hands them over one by one.
    await until(async () => Number(/^millrace_held_bytes (.*)$/m.exec(await metrics.text())?.[1]) >= 400_000);
    const grownMb = (heldBytes() - before) / 1e6;
    for (const socket of sockets) socket.destroy();
    assert.ok(grownMb < 20, `400 kB of bodies took ${grownMb} MB`);
  });

  test('counts against the limit before it is whole', async () => {
    const { port } = await collect.serve({ maxHeldBytes: 1_000_000 });
    const sockets = await Promise.all(Array.from({ length: 5 }, () => open(port, 'Content-Length: 500000')));
    const answers = sockets.map(
      (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    for (const socket of sockets) socket.write(Buffer.alloc(400_000, ' '));
    const first = await Promise.race(answers);
    assert.match(first, /^HTTP\/1\.1 503 /);
    for (const socket of sockets) socket.destroy();
  });
});

/** Without what the next collection of garbage would free. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  // The first one leaves freed buffers to a thread of its own; the second one waits for it.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function open(port: number, header: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.write(`POST /v1/batch HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
      resolve(socket);
    });
  });
}
