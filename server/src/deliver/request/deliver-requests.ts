import type { PulledRequest } from '../../stream/events/requests.ts';
import { type OpenRequest, openTakingApart, type TakeApartNeeds, type TakingApart } from './take-apart.ts';

/**
 * A request is open from `take` to its acknowledgement: it is taken apart as there is room, then its deliveries are waited for.
 * The engine is told all the while that this process is at it.
 */
export type Requests = Disposable & {
  take(request: PulledRequest): void;
  open(): number;
  /** Bytes of the open requests, as they are stored. */
  bytes(): number;
  /** Gives back what was not begun; what was begun goes on. */
  stop(): void;
};

export type RequestsNeeds = Omit<TakeApartNeeds, 'finished' | 'left'>;

type Open = OpenRequest & { toldAt: number };
type State = {
  open: Map<string, Open>;
  bytes: number;
  /** Acknowledged lately, by their keys, in two generations. */
  done: { young: Set<string>; old: Set<string> };
};

const REMEMBERED = 10_000;
/** Well inside the consumer's ack_wait of seven seconds. */
const WORKING_EVERY_MS = 2_000;

/** Sees accepted requests through: each is acknowledged when all its deliveries are done or safe, and not before. */
export function openRequests(needs: RequestsNeeds): Requests {
  const state: State = { open: new Map(), bytes: 0, done: { young: new Set(), old: new Set() } };
  const apart = openTakingApart({
    ...needs,
    finished: ({ request }) => finish(state, request),
    left({ request }, why) {
      close(state, request);
      request.leave(why);
    },
  });
  const teller = setInterval(() => tellWorking(state), WORKING_EVERY_MS / 4);
  return {
    take: (request) => take(state, request, apart),
    open: () => state.open.size,
    bytes: () => state.bytes,
    stop() {
      for (const { request } of apart.stop()) {
        close(state, request);
        request.giveBack();
      }
    },
    [Symbol.dispose]() {
      apart[Symbol.dispose]();
      clearInterval(teller);
    },
  };
}

function take(state: State, request: PulledRequest, apart: TakingApart): void {
  const known = state.open.get(request.key);
  if (known !== undefined) {
    // Ours still, only the engine lost patience or its leader: the new copy is the one to acknowledge.
    known.request = request;
    return;
  }
  if (state.done.young.has(request.key) || state.done.old.has(request.key)) {
    // Sent to us once more before our acknowledgement arrived, or because it never did.
    request.ack();
    return;
  }
  const now = performance.now();
  const open = { request, pending: 1, takenAt: now, toldAt: now };
  state.open.set(request.key, open);
  state.bytes += request.bytes;
  apart.add(open);
}

function finish(state: State, request: PulledRequest): void {
  close(state, request);
  remember(state, request.key);
  request.ack();
}

function close(state: State, { key, bytes }: PulledRequest): void {
  state.open.delete(key);
  state.bytes -= bytes;
}

/** Enough for every request that the engine can still believe to be unacknowledged. */
function remember({ done }: State, key: string): void {
  done.young.add(key);
  if (done.young.size < REMEMBERED) return;
  done.old = done.young;
  done.young = new Set();
}

function tellWorking({ open }: State): void {
  const now = performance.now();
  for (const current of open.values()) {
    if (now - current.toldAt < WORKING_EVERY_MS) continue;
    current.request.working();
    current.toldAt = now;
  }
}
