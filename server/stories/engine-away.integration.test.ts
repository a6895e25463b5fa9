/** NATS is killed and comes back, and our process is the same all the while. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import type { Explanation } from '@millrace/contract/control';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

/** Four hours in half a minute: time enough for an engine to come back. */
const RETRY_SCALE = '480';
const RETURN_MS = 60_000;

const stack = new AsyncDisposableStack();
let running: Stack;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let scene: Scene;
/** Events that the receiver fails until it is told to take them. */
const failing = new Set<string>();

type Body = { event: string; messageId: string };
const read = ({ body }: Received) => JSON.parse(body) as Body;
const arrived = (event: string) => receiver.received.map(read).filter((body) => body.event === event).length;
const send = (event: string) => running.send(scene.writeKey, [track(event)]);

function respond(received: Received, response: ServerResponse): void {
  answer(failing.has(read(received).event) ? 503 : 200)(received, response);
}

async function stateOf(event: string): Promise<string | undefined> {
  const { destinations } = await running.get<Explanation>('GET', `/events/m-${event}/explain`);
  return destinations[0]?.state;
}

before(async () => {
  running = stack.use(await openStack({ MILLRACE_RETRY_SCALE: RETRY_SCALE }));
  receiver = stack.use(await openReceiver(respond));
  scene = await addScene(running, receiver.url);
});
after(() => stack.disposeAsync());

suite('an engine that is killed', () => {
  test('is never answered for with 2xx', async () => {
    assert.equal(await send('before'), 200);
    failing.add('waiting');
    assert.equal(await send('waiting'), 200);
    await until(() => arrived('before') === 1 && arrived('waiting') >= 1);
    await running.nats.nodes[0]?.kill('SIGKILL');
    const events = Array.from({ length: 20 }, (_, nth) => `away-${nth}`);
    const statuses = await Promise.all(events.map(send));
    assert.deepEqual(new Set(statuses), new Set([503]));
  });

  test('and comes back: a call that was turned away is delivered when it is sent again, once', async () => {
    await running.nats.nodes[0]?.start();
    await until(async () => (await send('away-0')) === 200, RETURN_MS);
    await until(() => arrived('away-0') >= 1, RETURN_MS);
    assert.equal(await send('away-0'), 200, 'a client that missed the answer sends it once more');
    assert.equal(await send('after'), 200);
    await until(() => arrived('after') === 1, RETURN_MS);
    assert.equal(arrived('away-0'), 1);
    assert.equal(arrived('away-1'), 0, 'what was answered 503 and not sent again is not there');
  });

  test('finds its consumers again: what waits in lanes is retried, and what happens is recorded', async () => {
    failing.clear();
    const before = arrived('waiting');
    await until(() => arrived('waiting') > before, RETURN_MS);
    await until(async () => (await stateOf('waiting')) === 'delivered', RETURN_MS);
    await until(async () => (await stateOf('after')) === 'delivered', RETURN_MS);
  });
});
