/**
 * The bare twin of a small installation: one process that does the same I/O and nothing else. A call comes in over HTTP and is answered when
 * JetStream has it; a pull hands it out, undici posts it, signed twice; outcomes are gathered for 20 ms and stored before the message is
 * acknowledged; a second pull writes them to PostgreSQL, gathered for 200 ms. No checks, no routing, no limits, no retries, no metrics.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type Msg, nuid } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { Pool as Database } from 'pg';
import { type Dispatcher, Pool } from 'undici';

/** `natsUrl`: of a user who may make streams. */
export type TwinPlan = { natsUrl: string; databaseUrl: string; receiverUrl: string };

const { natsUrl, databaseUrl, receiverUrl }: TwinPlan = JSON.parse(process.argv[2] ?? '');
const GATHER_MS = 20;
const RECORD_MS = 200;
const [EVENTS, OUTCOMES] = ['TWIN-EVENTS', 'TWIN-OUTCOMES'];

const { host, username: user, password: pass } = new URL(natsUrl);
const nc = await connect({ servers: host, user, pass, noAsyncTraces: true });
const manager = await jetstreamManager(nc);
for (const name of [EVENTS, OUTCOMES]) {
  await manager.streams.add({ name, subjects: [name] });
  await manager.consumers.add(name, { durable_name: 'twin', ack_policy: 'explicit', max_ack_pending: 4_096 });
}
const database = new Database({ connectionString: databaseUrl, max: 2 });
await database.query('CREATE TABLE twin_deliveries (id text PRIMARY KEY, event text, status int, at timestamptz)');
const { origin, pathname } = new URL(receiverUrl);
const receiver = new Pool(origin, { connections: 128, keepAliveTimeout: 30_000 });
const key = createSecretKey(Buffer.alloc(32, 1));

const inbox = `_INBOX.${nuid.next()}`;
const waiting = new Map<string, () => void>();
let count = 0;
nc.subscribe(`${inbox}.*`, {
  callback(_, message) {
    if (message.json<{ seq?: number }>().seq === undefined) throw new Error(message.string());
    waiting.get(message.subject)?.();
    waiting.delete(message.subject);
  },
});

function store(stream: string, body: string | Buffer): Promise<void> {
  count += 1;
  const reply = `${inbox}.${count}`;
  const head = headers();
  head.set('Nats-Msg-Id', `twin-${count}`);
  nc.publish(stream, body, { reply, headers: head });
  return new Promise((resolve) => waiting.set(reply, resolve));
}

/** One request to the server is open until its messages have come. */
function pull(stream: string, take: (message: Msg) => void): void {
  const own = `_INBOX.${nuid.next()}`;
  const batch = 500;
  let left = 0;
  const ask = () => {
    left = batch;
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.twin`, JSON.stringify({ batch, expires: 3_600e9 }), { reply: own });
  };
  nc.subscribe(own, {
    callback(_, message) {
      if (message.headers?.code !== undefined && message.data.length === 0) return;
      left -= 1;
      take(message);
      if (left === 0) ask();
    },
  });
  ask();
}

type Outcome = { id: string; event: string; status: number; at: number };
let outcomes: { outcome: Outcome; message: Msg }[] = [];

async function storeOutcomes(): Promise<void> {
  const stored = outcomes;
  outcomes = [];
  await store(OUTCOMES, JSON.stringify(stored.map(({ outcome }) => outcome)));
  for (const { message } of stored) message.respond('+ACK');
}

function deliver(message: Msg): void {
  count += 1;
  const id = `dlv_${count}`;
  const event = message.json<{ event: string }>();
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const sent = ['User-Agent', 'Millrace/1.0', 'Content-Type', 'application/json', 'webhook-id', id];
  sent.push('X-Signature', createHmac('sha1', key).update(body).digest('hex'), 'webhook-timestamp', timestamp);
  sent.push('webhook-signature', createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'));
  const answered = (status: number) => {
    if (outcomes.length === 0) setTimeout(() => void storeOutcomes(), GATHER_MS);
    outcomes.push({ outcome: { id, event: event.event, status, at: Date.now() }, message });
  };
  receiver.dispatch({ method: 'POST', path: pathname, headers: sent, body }, handler(answered));
}

function handler(answered: (status: number) => void): Dispatcher.DispatchHandler {
  let status = 0;
  return {
    onRequestStart() {},
    onResponseStart(_, code) {
      status = code;
    },
    onResponseData() {},
    onResponseEnd: () => answered(status),
    onResponseError(_, error) {
      throw error;
    },
  };
}

let recorded: Msg[] = [];

async function write(): Promise<void> {
  const batches = recorded;
  recorded = [];
  const rows = JSON.stringify(batches.flatMap((message) => message.json<Outcome[]>()));
  await database.query(
    `INSERT INTO twin_deliveries SELECT id, event, status, to_timestamp(at / 1000.0)
     FROM json_to_recordset($1) AS row (id text, event text, status int, at float)`,
    [rows],
  );
  for (const message of batches) message.respond('+ACK');
}

pull(EVENTS, deliver);
pull(OUTCOMES, (message) => {
  if (recorded.length === 0) setTimeout(() => void write(), RECORD_MS);
  recorded.push(message);
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    void store(EVENTS, Buffer.concat(chunks)).then(() => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 16 });
      response.end('{"success":true}');
    });
  });
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
