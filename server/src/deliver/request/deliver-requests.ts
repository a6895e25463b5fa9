/**
 * Sees accepted requests through. A request is open from `take` to its acknowledgement: it is taken apart as there is room, and
 * acknowledged when all its deliveries are done or safe, not before. Meanwhile NATS hears every two seconds that this process
 * works on it. Acknowledged requests are remembered for a while, because NATS may send them again.
 */
import type { PulledRequest } from '../../stream/events/requests.ts';
import { whenKept } from '../../stream/nats/when-available.ts';
import { type OpenRequest, openTakingApart, type TakeApartNeeds } from './take-apart.ts';
import { every } from '../../pause.ts';

export type Requests = Disposable & {
  take(request: PulledRequest): void;
  /** Nothing of it is delivered: it is acknowledged when quarantine has it. */
  keep(request: PulledRequest, why: string): void;
  open(): number;
  /** Bytes of the open requests, as they are stored. */
  bytes(): number;
  /** Gives back the requests that were not begun; the others go on. */
  stop(): void;
};

export type RequestsNeeds = Omit<TakeApartNeeds, 'finished' | 'left'>;

type Open = OpenRequest & { toldAt: number };

/** Enough for every request that NATS can still believe to be unacknowledged. */
const REMEMBERED = 10_000;
/** Well inside the consumer's ack_wait of seven seconds. */
const WORKING_EVERY_MS = 2_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openRequests(needs: RequestsNeeds): Requests {
  const open = new Map<string, Open>();
  let bytes = 0;
  /** Keys of requests that were acknowledged lately, in two generations. */
  let young = new Set<string>();
  let old = new Set<string>();
  const teller = every(WORKING_EVERY_MS / 4, tellWorking);
  const apart = openTakingApart({
    ...needs,
    finished,
    left({ request }, why) {
      close(request);
      request.leave(why);
    },
  });

  function finished({ request }: OpenRequest): void {
    close(request);
    remember(request.key);
    request.ack();
  }

  function close(request: PulledRequest): void {
    open.delete(request.key);
    bytes -= request.bytes;
  }

  function remember(key: string): void {
    young.add(key);
    if (young.size < REMEMBERED) return;
    old = young;
    young = new Set();
  }

  function tellWorking(): void {
    const now = performance.now();
    for (const current of open.values()) {
      if (now - current.toldAt < WORKING_EVERY_MS) continue;
      current.request.working();
      current.toldAt = now;
    }
  }

  /** Undefined for a request that this process knows. */
  function begin(request: PulledRequest): Open | undefined {
    const known = open.get(request.key);
    if (known !== undefined) {
      // This process still works on it, and NATS lost patience or its leader: the new copy is the one to acknowledge.
      known.request = request;
      return undefined;
    }
    if (young.has(request.key) || old.has(request.key)) {
      // NATS sent it once more before the acknowledgement arrived, or because it never did.
      request.ack();
      return undefined;
    }
    const now = performance.now();
    const begun = { request, pending: 1, takenAt: now, toldAt: now };
    open.set(request.key, begun);
    bytes += request.bytes;
    return begun;
  }

  return {
    take(request) {
      const taken = begin(request);
      if (taken !== undefined) apart.add(taken);
    },
    keep(request, why) {
      const kept = begin(request);
      if (kept !== undefined) void whenKept(() => kept.request.setAside(why)).then(() => finished(kept));
    },
    open: () => open.size,
    bytes: () => bytes,
    stop() {
      for (const { request } of apart.stop()) {
        close(request);
        request.giveBack();
      }
    },
    [Symbol.dispose]() {
      apart[Symbol.dispose]();
      teller[Symbol.dispose]();
    },
  };
}
