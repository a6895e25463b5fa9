import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { Analytics } from '@segment/analytics-node';
import type { OrderCall } from '../order-call.ts';

export type Sender = {
  track(call: OrderCall): void;
  /** Resolves when the calls so far have been answered. */
  answered(): Promise<unknown>;
};

type Built = {
  Millrace: new (writeKey: string, options: object) => { track(call: OrderCall): void; flush(): Promise<unknown> };
};

/** The built package, as users run it. */
const { Millrace } = (await import(join(ROOT_DIR, 'clients/node/dist/index.js'))) as Built;

export function openOurs(endpoint: string, gzip: boolean): Sender {
  const client = new Millrace('bench-write-key', { endpoint, flushAt: 20, gzip });
  return { track: (call) => client.track(call), answered: () => client.flush() };
}

/** The least that could be done: the call as JSON, a list, one request for all of it. */
export function openTwin(endpoint: string): Sender {
  const url = new URL(`${endpoint}/v1/batch`);
  const agent = new Agent({ keepAlive: true });
  const headers = { 'Content-Type': 'application/json', Authorization: 'Basic YmVuY2gtd3JpdGUta2V5Og==' };
  let calls: string[] = [];
  return {
    track: (call) => void calls.push(JSON.stringify(call)),
    answered() {
      const body = `{"batch":[${calls.join(',')}]}`;
      calls = [];
      return new Promise<void>((resolve, reject) => {
        const { hostname, port, pathname } = url;
        const sending = request({ agent, method: 'POST', hostname, port, path: pathname, headers }, (response) => {
          response.resume();
          response.once('end', resolve);
        });
        sending.once('error', reject);
        sending.end(body);
      });
    },
  };
}

export function openSegment(endpoint: string): Sender {
  const url = new URL(endpoint);
  const analytics = new Analytics({
    writeKey: 'bench-write-key',
    host: url.origin,
    path: `${url.pathname}/v1/batch`,
    flushAt: 20,
  });
  let open = 0;
  let finish: (() => void) | undefined;
  // Not a callback a call: those are held back for 300 ms.
  analytics.on('track', () => {
    open -= 1;
    if (open === 0) finish?.();
  });
  return {
    track(call) {
      open += 1;
      analytics.track(call);
    },
    answered: () => new Promise<void>((resolve) => (open === 0 ? resolve() : (finish = resolve))),
  };
}
