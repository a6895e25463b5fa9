/**
 * The receivers of the bench, in a process of their own: `/hook` only counts, `/other` notes when each event came, `/told` notes when each
 * computed value came, as `user key value`.
 */
import { createServer, type IncomingMessage } from 'node:http';

export type ReceiverOrder = { kind: 'look' } | { kind: 'reset' } | { kind: 'refuse'; isRefusing: boolean };

/** The last one is its webhook-id. */
export type Arrival = [what: string, at: number, id: string];
/** `count` is of events, also of those in a batch; `bytes` are those of headers and bodies. `lastAt` and the times of `others` are of the clock that all processes of a machine share. */
export type ReceiverView = {
  count: number;
  posts: number;
  distinct: number;
  lastAt: number;
  bytes: number;
  others: Arrival[];
};

const BATCH_START = Buffer.from('{"version":1,"type":"batch"');
const ids = new Set<string>();
const state = { count: 0, posts: 0, lastAt: 0, bytes: 0, isRefusing: false, others: [] as Arrival[] };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  void receive(request).then((status) => response.writeHead(status).end());
});

async function receive(request: IncomingMessage): Promise<number> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const id = String(request.headers['webhook-id']);
  if (request.url === '/other') {
    const { event } = JSON.parse(Buffer.concat(parts).toString()) as { event: string };
    state.others.push([event, clockMs(), id]);
    return 200;
  }
  if (request.url === '/told') {
    state.others.push([toldIn(Buffer.concat(parts).toString()), clockMs(), id]);
    return 200;
  }
  const body = Buffer.concat(parts);
  const events = idsIn(body, id);
  state.posts += 1;
  state.count += events.length;
  state.bytes += headBytes(request) + body.length;
  state.lastAt = clockMs();
  for (const each of events) ids.add(each);
  return state.isRefusing ? 400 : 200;
}

/** The ids of all events of a batch, or that of the one event. */
function idsIn(body: Buffer, id: string): string[] {
  if (!body.subarray(0, BATCH_START.length).equals(BATCH_START)) return [id];
  const { events } = JSON.parse(body.toString()) as { events: { id: string }[] };
  return events.map((event) => event.id);
}

/** The request line, and names and values of headers with the four bytes between them. */
function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  const line = `${method} ${url} HTTP/1.1\r\n\r\n`.length;
  return rawHeaders.reduce((sum, { length }) => sum + length + 2, line);
}

function toldIn(body: string): string {
  const { userId, traits } = JSON.parse(body) as { userId: string; traits: Record<string, unknown> };
  return Object.entries(traits)
    .map(([key, value]) => `${userId} ${key} ${String(value)}`)
    .join();
}

function clockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

process.on('message', (order: ReceiverOrder) => {
  if (order.kind === 'refuse') state.isRefusing = order.isRefusing;
  if (order.kind === 'reset') {
    state.count = 0;
    state.posts = 0;
    state.bytes = 0;
    ids.clear();
  }
  const { count, posts, lastAt, bytes, others } = state;
  process.send?.({ count, posts, lastAt, bytes, others, distinct: ids.size } satisfies ReceiverView);
  state.others = [];
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
