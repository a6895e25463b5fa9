import { Agent, request } from 'node:http';
import { sendEvenly } from '../deliver/send-evenly.ts';
import { orderCall } from '../order-call.ts';
import { clockMs } from '../replay/watch-other.ts';
import type { Small } from './installation.ts';

/** When each call was sent, by the name of its event. */
export type Sent = Map<string, number>;

const MOST_SOCKETS = 64;
let lastNumber = 0;

/** Single calls at a steady pace, however long the ones before take. Resolves when all are answered `200`. */
export async function sendSteadily(small: Small, calls: number, perSecond: number): Promise<Sent> {
  const sent: Sent = new Map();
  using agent = openAgent();
  const answered: Promise<void>[] = [];
  await sendEvenly({ units: calls, perSecond }, () => void answered.push(send(small, agent, sent)));
  await Promise.all(answered);
  return sent;
}

/** Single calls as fast as they are answered. */
export async function sendBurst(small: Small, calls: number): Promise<Sent> {
  const sent: Sent = new Map();
  using agent = openAgent();
  const sendOn = async () => {
    while (sent.size < calls) await send(small, agent, sent);
  };
  await Promise.all(Array.from({ length: MOST_SOCKETS }, sendOn));
  return sent;
}

function openAgent(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

function send({ trackUrl, writeKey }: Small, agent: Agent, sent: Sent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  lastNumber += 1;
  const event = `Order ${lastNumber}`;
  const body = JSON.stringify({ ...orderCall(lastNumber), messageId: `small-${lastNumber}`, event });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  sent.set(event, clockMs());
  const asked = request(trackUrl, { method: 'POST', auth: `${writeKey}:`, headers, agent }, (answer) => {
    if (answer.statusCode !== 200) reject(new Error(`a call was answered ${answer.statusCode}`));
    answer.resume().once('end', resolve);
  });
  asked.once('error', reject).end(body);
  return promise;
}
