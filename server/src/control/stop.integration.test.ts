import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { addToken, addWorkspace, startTestControl } from '../../testing/control.ts';
import { until } from '../../testing/until.ts';

test('a request under way at the stop is answered, and its connection is closed', async () => {
  const control = await startTestControl();
  const owner = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
  const socket = connect(Number(new URL(control.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const body = '{"name":"Late"}';
  const head = ['POST /api/v1/sources HTTP/1.1', 'Host: a', `Authorization: Bearer ${owner}`];
  const about = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: keep-alive'];
  socket.write(`${[...head, ...about].join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  // The server has the request once it counts the connection as busy, which no signal tells.
  await fetch(`${control.url}/healthz`);
  const stopped = control[Symbol.asyncDispose]();
  await until(async () => !(await isAccepting(control.url)));
  socket.write(body.slice(5));
  const answer = await text(socket);
  assert.match(answer, /^connection: close\r$/im);
  await stopped;
});

/** The first step of a stop is that no new connection is taken. */
async function isAccepting(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
