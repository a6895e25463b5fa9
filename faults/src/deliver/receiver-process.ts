/** Every receiver of a scene, in a process that no fault touches. It is told how to behave and tells what arrives. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { seededRandom } from '../seeded-random.ts';
import { type Arrival, readArrivals } from './read-arrival.ts';

/** How a destination's receiver answers. */
export type Behaviour = {
  status: number | 'hang';
  /** The share that is answered 500 instead, by the dice. */
  failing?: number;
  afterMs?: number;
};

export type ReceiverOrder =
  | { kind: 'open'; seed: number; secrets: Record<string, string>; behaviour: Behaviour }
  | { kind: 'behave'; destinationIds: string[]; behaviour: Behaviour }
  | { kind: 'rest' }
  | { kind: 'tell' };

/** `open` and `mostOpen`: POSTs not answered yet, now and at most since the last word. */
export type ReceiverWord = { port?: number; arrivals: Arrival[]; open: number; mostOpen: number; isAnswer: boolean };

const TELL_MS = 50;

const secrets = new Map<string, string>();
const behaviours = new Map<string, Behaviour>();
/** POSTs of each destination that are not answered yet. */
const openBy = new Map<string, number>();
const state = { usual: { status: 200 } as Behaviour, open: 0, mostOpen: 0, arrivals: [] as Arrival[] };
let random = seededRandom(1);

const server = createServer(
  { keepAliveTimeout: 120_000, requestTimeout: 0, headersTimeout: 0 },
  (request, response) => {
    state.open += 1;
    state.mostOpen = Math.max(state.mostOpen, state.open);
    const destinationId = (request.url ?? '').slice(1);
    const beside = openBy.get(destinationId) ?? 0;
    openBy.set(destinationId, beside + 1);
    response.once('close', () => {
      state.open -= 1;
      openBy.set(destinationId, (openBy.get(destinationId) ?? 1) - 1);
    });
    void receive(request, response, { destinationId, beside });
  },
);

type Come = { destinationId: string; beside: number };

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { destinationId, beside }: Come,
): Promise<void> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch {
    // The sender died in the middle of it: nothing has arrived.
    return;
  }
  const at = clockMs();
  const { status, failing = 0, afterMs } = behaviours.get(destinationId) ?? state.usual;
  const answered = status === 'hang' ? 0 : random.next() < failing ? 500 : status;
  const posted = { destinationId, headers: request.headers, body: Buffer.concat(parts).toString() };
  for (const arrival of readArrivals(posted, secrets.get(destinationId) ?? '')) {
    state.arrivals.push({ ...arrival, status: answered, at, beside });
  }
  if (answered === 0) return;
  if (afterMs === undefined) response.writeHead(answered).end();
  else setTimeout(() => response.writeHead(answered).end(), afterMs);
}

/** The same for all processes of the machine. */
function clockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

function tell(extra: Partial<ReceiverWord> = {}): void {
  const word: ReceiverWord = { isAnswer: false, ...extra, ...state };
  // A fault that is over no longer listens.
  process.send?.(word, () => undefined);
  state.arrivals = [];
  state.mostOpen = state.open;
}

function obey(order: ReceiverOrder): void {
  switch (order.kind) {
    case 'open':
      random = seededRandom(order.seed);
      state.usual = order.behaviour;
      for (const [id, secret] of Object.entries(order.secrets)) secrets.set(id, secret);
      server.listen({ port: 0, host: '0.0.0.0', backlog: 16_384 }, () => {
        const address = server.address();
        if (typeof address === 'object' && address !== null) tell({ port: address.port, isAnswer: true });
      });
      return;
    case 'behave':
      for (const id of order.destinationIds) behaviours.set(id, order.behaviour);
      tell({ isAnswer: true });
      return;
    case 'rest':
      state.usual.failing = 0;
      for (const behaviour of behaviours.values()) behaviour.failing = 0;
      tell({ isAnswer: true });
      return;
    case 'tell':
      tell({ isAnswer: true });
  }
}

process.on('message', obey);
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (state.arrivals.length > 0 || state.mostOpen > state.open) tell();
}, TELL_MS);
