import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { suite, test } from 'node:test';
import { sendRequest } from './send-request.ts';

suite('a request of the load', () => {
  test('goes out again on a fresh connection when the server closed an idle one', async () => {
    assert.deepEqual(await sendTwice({ idleMs: 0 }), [200, 200]);
  });

  test('is reset when the server closes a connection that was not idle for long', async () => {
    assert.deepEqual(await sendTwice({}), [200, 'ECONNRESET']);
  });
});

/** To a server that takes one request on each connection, and says nothing of that. */
async function sendTwice(patience: { idleMs?: number }): Promise<(string | number)[]> {
  const used = new WeakSet<Socket>();
  const server = createServer((incoming, outgoing) => {
    if (used.has(incoming.socket)) return void incoming.socket.destroy();
    used.add(incoming.socket);
    incoming.resume();
    outgoing.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outcomes: (string | number)[] = [];
  for (const body of ['first', 'second']) {
    const { outcome } = await sendRequest({ url, agent, writeKey: 'key', body, ...patience });
    outcomes.push(outcome);
  }
  agent.destroy();
  server.close();
  return outcomes;
}
