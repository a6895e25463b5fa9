/** Answers every POST with 200, and counts by contender: deliveries, new ones, wrong signatures, and POSTs, which may be batches. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { secretOf } from './scene.ts';

export type Count = { deliveries: number; distinct: number; wrong: number; posts: number };
export type Counts = Record<string, Count>;
/** `forget` begins to count from zero. */
export type Question = { forget: boolean };

type Seen = { deliveries: number; ids: Set<string>; wrong: number; posts: number };

const seen = new Map<string, Seen>();
type Keys = { secret: KeyObject; key: KeyObject };
const keys = new Map<string, Keys>();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const [, contender = '', destination = ''] = (request.url ?? '').split('/');
    const body = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    note(contender, isSigned(destination, request.headers, body), idsOf(request.headers, body));
    response.sendDate = false;
    response.writeHead(200, { 'Content-Length': 0 }).end();
  });
});
server.keepAliveTimeout = 0;
server.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
process.on('disconnect', () => process.exit(0));
process.on('message', ({ forget }: Question) => {
  const counts = [...seen].map(([name, { ids, ...counted }]) => [name, { ...counted, distinct: ids.size }] as const);
  process.send?.({ counts: Object.fromEntries(counts) });
  if (forget) seen.clear();
});

function note(contender: string, isRight: boolean, ids: readonly string[]): void {
  let one = seen.get(contender);
  if (one === undefined) {
    one = { deliveries: 0, ids: new Set(), wrong: 0, posts: 0 };
    seen.set(contender, one);
  }
  one.posts += 1;
  one.deliveries += ids.length;
  for (const id of ids) one.ids.add(id);
  if (!isRight) one.wrong += 1;
}

const BATCH = Buffer.from('{"version":1,"type":"batch"');

function idsOf(headers: IncomingHttpHeaders, body: Buffer): string[] {
  if (!body.subarray(0, BATCH.length).equals(BATCH)) return [String(headers['webhook-id'])];
  const { events } = JSON.parse(body.toString()) as { events: { id: string }[] };
  return events.map(({ id }) => id);
}

function isSigned(destination: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { secret, key } = keyOf(destination);
  if (headers['x-signature'] !== createHmac('sha1', secret).update(body).digest('hex')) return false;
  const standard = headers['webhook-signature'];
  // Only the twin with one signature leaves out the other, and the time that belongs to it.
  if (standard === undefined) return headers['webhook-timestamp'] === undefined;
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`;
  return standard === `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`;
}

function keyOf(destination: string): Keys {
  let known = keys.get(destination);
  if (known === undefined) {
    const secret = secretOf(Number(destination));
    const key = createSecretKey(secret.slice('whsec_'.length), 'base64');
    known = { secret: createSecretKey(secret, 'utf8'), key };
    keys.set(destination, known);
  }
  return known;
}
