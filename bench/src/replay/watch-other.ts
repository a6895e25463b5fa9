import { once } from 'node:events';
import { createServer } from 'node:http';
import { addScene, type Stack, track } from '../../../server/src/stack-for-tests.ts';

const EVERY_MS = 50;

/** Another source with a destination of its own: how long its events take from their call to their receiver. */
export async function watchOther(stack: Stack) {
  const sentAt = new Map<string, number>();
  let times: number[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const { event } = JSON.parse(text) as { event: string };
      times.push(performance.now() - (sentAt.get(event) ?? performance.now()));
      sentAt.delete(event);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = server.address();
  const scene = await addScene(stack, `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`);
  let sent = 0;
  const send = () => {
    const name = `other ${(sent += 1)}`;
    sentAt.set(name, performance.now());
    void stack.send(scene.writeKey, [track(name)]);
  };
  return {
    async p99Of(work: () => Promise<unknown>): Promise<number> {
      times = [];
      const timer = setInterval(send, EVERY_MS);
      await work();
      clearInterval(timer);
      const sorted = times.toSorted((a, b) => a - b);
      return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
    },
  };
}
