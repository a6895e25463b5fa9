/**
 * The bare twin of deliver: JSON.stringify, HMAC, undici's Pool.dispatch over connections that stay open; no stream, no
 * routing, no gate, no judgement, no deadline, nothing in case of failure. `one` makes X-Signature only, `both` also the
 * signature of Standard Webhooks, and then sends all the headers that deliver sends.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import { parsedBodies, secretOf, type Shape, urlOf } from './scene.ts';
import { type Flow, sendEvenly } from './send-evenly.ts';

export type TwinPlan = {
  name: string;
  signatures: 'one' | 'both';
  shape: Shape;
  destinations: number[];
  port: number;
};

/** As many as deliver's client keeps open at most, to one origin and in all. */
const MAX_CONNECTIONS = 128;
const MAX_ALL_CONNECTIONS = 2_000;

const plan: TwinPlan = JSON.parse(process.argv[2] ?? '');
const bodies = parsedBodies(plan.shape);
const targets = plan.destinations.map((destination) => {
  const { origin, pathname } = new URL(urlOf(plan.name, destination, plan.port));
  const connections = Math.min(MAX_CONNECTIONS, Math.floor(MAX_ALL_CONNECTIONS / plan.destinations.length));
  const pool = new Pool(origin, { connections, keepAliveTimeout: 30_000 });
  const secret = secretOf(destination);
  // A key given as a Buffer would cost each signature five times as much.
  const key = createSecretKey(secret.slice('whsec_'.length), 'base64');
  return { pool, path: pathname, secret: createSecretKey(secret, 'utf8'), key };
});
type Target = (typeof targets)[number];
let units = 0;
let count = 0;

process.on('message', (flow: Flow) => {
  void sendEvenly(flow, () => {
    const target = targets[units % targets.length];
    units += 1;
    if (target !== undefined) for (const body of bodies) post(target, JSON.stringify(body));
  });
});
process.on('disconnect', () => process.exit(0));

function post({ pool, path, secret, key }: Target, body: string): void {
  count += 1;
  const id = `dlv_${count}`;
  const signature = createHmac('sha1', secret).update(body).digest('hex');
  const headers = ['User-Agent', 'Millrace/1.0', 'Content-Type', 'application/json', 'webhook-id', id];
  headers.push('X-Signature', signature);
  if (plan.signatures === 'both') addStandardWebhook(headers, { id, body, key });
  pool.dispatch({ method: 'POST', path, headers, body }, handler());
}

function addStandardWebhook(headers: string[], { id, body, key }: { id: string; body: string; key: KeyObject }): void {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  headers.push('webhook-timestamp', timestamp, 'webhook-signature', `v1,${signature}`);
  headers.push('X-Millrace-Order', `1794701330000-00-${String(count).padStart(15, '0')}-0000`);
  headers.push('X-Millrace-Attempt', '1', 'X-Millrace-Give-Up-At', '2026-11-15T14:00:00.000Z');
}

function handler(): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      if (status !== 200) throw new Error(`answered ${status}`);
    },
    onResponseData() {},
    onResponseEnd() {},
    onResponseError(_controller, error) {
      throw error;
    },
  };
}
