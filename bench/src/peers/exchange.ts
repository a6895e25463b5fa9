/** The one load generator and the one receiver for all systems, in this process, so that one clock sees both ends. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Entry } from './journal.ts';
import type { Endpoint, Post, ReceiverKind } from './system.ts';

export type Exchange = Awaited<ReturnType<typeof openExchange>>;

const MARK = /"bid":"([^"]+)"/g;
const ANSWER_MS = 40_000;
const FILLER = 'abcdefghij'.repeat(22);

type Entries = Map<string, Entry>;

export async function openExchange() {
  const entries: Entries = new Map();
  const note = (body: string) => noteArrivals(entries, body);
  const server = createServer({ keepAliveTimeout: 60_000 }, (asked, response) => void receive(asked, response, note));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const agent = new Agent({ connections: 64, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  return {
    urlOf: (index: number, kind: ReceiverKind) => `http://127.0.0.1:${port}/${kind}/${index}`,
    /** Sends one request; ids that were sent before keep their entry. Resolves with the status, 0 without an answer. */
    async post(endpoint: Endpoint, ids: readonly string[]): Promise<number> {
      const made = postOf(endpoint, ids);
      const sentAt = performance.now();
      for (const id of ids)
        if (!entries.has(id)) entries.set(id, { kind: endpoint.kind, sentAt, status: 0, arrivals: 0 });
      const status = await statusOf(made, agent);
      noteAnswer(entries, ids, status);
      return status;
    },
    entry: (id: string) => entries.get(id),
    entries: () => [...entries.values()],
    reset: () => entries.clear(),
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function noteArrivals(entries: Entries, body: string): void {
  const at = performance.now();
  for (const [, id = ''] of body.matchAll(MARK)) {
    const entry = entries.get(id);
    if (entry === undefined) continue;
    entry.arrivals += 1;
    entry.receivedAt ??= at;
  }
}

function noteAnswer(entries: Entries, ids: readonly string[], status: number): void {
  const at = performance.now();
  for (const id of ids) {
    const entry = entries.get(id);
    if (entry === undefined) continue;
    entry.status = status;
    if (status >= 200 && status < 300) entry.acceptedAt ??= at;
  }
}

function postOf(endpoint: Endpoint, ids: readonly string[]): Post {
  const events = ids.map(eventOf);
  const made = ids.length > 1 ? endpoint.batch?.(events) : endpoint.one(events[0] ?? '', ids[0] ?? '');
  if (made === undefined) throw new Error('this system takes one event a request');
  return made;
}

async function receive(asked: IncomingMessage, response: ServerResponse, note: (body: string) => void): Promise<void> {
  const parts: Buffer[] = [];
  try {
    for await (const part of asked) parts.push(part as Buffer);
  } catch {
    return; // The sender hung up.
  }
  const kind = asked.url?.split('/')[1];
  if (kind === 'hang') return;
  note(Buffer.concat(parts).toString());
  response.writeHead(kind === 'fail' ? 500 : 200).end();
}

async function statusOf({ url, headers, body }: Post, agent: Agent): Promise<number> {
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 0;
  }
}

/** A call of about 700 bytes that carries its id through every system. */
export function eventOf(id: string): string {
  return JSON.stringify({
    type: 'track',
    messageId: `m-${id}`,
    userId: `user-${id.slice(-2)}`,
    event: 'Order Completed',
    timestamp: new Date().toISOString(),
    properties: {
      bid: id,
      revenue: 12.5,
      currency: 'EUR',
      products: [
        { sku: 'a-1', quantity: 2, price: 3.5 },
        { sku: 'b-2', quantity: 1, price: 5.5 },
      ],
      note: FILLER,
    },
    context: { ip: '203.0.113.7', locale: 'en-GB', library: { name: 'bench', version: '1' } },
  });
}

/** Until all accepted events for working receivers have arrived, or none has for this time. */
export async function untilArrived(exchange: Exchange, patienceMs: number): Promise<void> {
  let [left, since] = [-1, performance.now()];
  while (performance.now() - since < patienceMs) {
    const now = exchange
      .entries()
      .filter(
        ({ kind, acceptedAt, receivedAt }) => kind === 'ok' && acceptedAt !== undefined && receivedAt === undefined,
      ).length;
    if (now === 0) return;
    if (now !== left) [left, since] = [now, performance.now()];
    await sleep(100);
  }
}
