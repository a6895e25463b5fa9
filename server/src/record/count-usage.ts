import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { addCallSlots, CALL_SLOT_MS, type CallSlot, slotOf } from '../store/slot-counts.ts';
import {
  addUsage,
  type CallCount,
  isSamePosition,
  lockUsagePosition,
  readUsagePosition,
  setUsagePosition,
  type UsagePosition,
} from '../store/usage.ts';
import { type RequestUsage, type StreamEnd, USAGE_AT_ONCE, type UsageReader } from '../stream/events/read-usage.ts';
import { pause } from '../pause.ts';

export type UsageNeeds = { store: Store; usage(): Promise<readonly UsageReader[]>; log: Logger };

/** How often streams are looked for that were made since. */
const LIST_MS = 5_000;
/** Each read costs NATS a consumer and PostgreSQL two transactions: usage is this much behind. */
const LOOK_MS = 5_000;

/** Counts accepted calls by source and month, before any filter, until it is disposed. */
export function startCountingUsage(needs: UsageNeeds): AsyncDisposable {
  const stopping = new AbortController();
  const counting = countAll(needs, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await counting;
    },
  };
}

async function countAll(needs: UsageNeeds, signal: AbortSignal): Promise<void> {
  const counts = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const readers = await needs.usage().catch((error: unknown) => {
      needs.log.warn({ error: String(error) }, 'usage.waiting');
      return [];
    });
    for (const reader of readers) {
      if (!counts.has(reader.stream)) counts.set(reader.stream, countOn(reader, needs, signal));
    }
    await pause(LIST_MS, signal);
  }
  await Promise.all(counts.values());
}

async function countOn(reader: UsageReader, { store, log }: UsageNeeds, signal: AbortSignal): Promise<void> {
  let isWaiting = false;
  let through: UsagePosition | undefined;
  while (!signal.aborted) {
    try {
      // Nothing came since: PostgreSQL need not be asked.
      const isCounted = through !== undefined && isEnd(through, await reader.end());
      const counted = isCounted ? undefined : await countSome(reader, store);
      through = counted?.through ?? through;
      isWaiting = false;
      // Reads on at once only when far behind.
      if (counted?.requests === USAGE_AT_ONCE) continue;
    } catch (error) {
      if (!isWaiting) log.warn({ stream: reader.stream, error: String(error) }, 'usage.waiting');
      isWaiting = true;
    }
    await pause(LOOK_MS, signal);
  }
}

function isEnd({ sequence, times }: UsagePosition, end: StreamEnd): boolean {
  return sequence === end.sequence && times?.createdAt === end.createdAt;
}

/** `through`: all requests up to there are counted; undefined when another process was counting. */
type Counted = { requests: number; through: UsagePosition | undefined };

/**
 * The position and the counts are committed together. When another process has moved the position meanwhile, the requests read are
 * dropped.
 */
async function countSome({ stream, readAfter }: UsageReader, store: Store): Promise<Counted> {
  const before = await store.asSystem((tx) => readUsagePosition(tx, stream));
  const { requests, through } = await readAfter(before);
  if (isSamePosition(through, before)) return { requests: 0, through };
  return store.asSystem(async (tx) => {
    if (!isSamePosition(await lockUsagePosition(tx, stream), before)) return { requests: 0, through: undefined };
    await addUsage(tx, callCounts(requests));
    await addCallSlots(tx, callSlots(requests));
    await setUsagePosition(tx, stream, through);
    return { requests: requests.length, through };
  });
}

/** A request whose envelope PostgreSQL cannot store must not stop the count of the following ones. */
function isCountable({ receivedAt, calls }: RequestUsage): boolean {
  return /^[12]\d{3}-(0[1-9]|1[0-2])-/.test(receivedAt) && Number.isSafeInteger(calls) && calls >= 0;
}

function callCounts(requests: readonly RequestUsage[]): CallCount[] {
  const counts = new Map<string, CallCount>();
  for (const { sourceId, receivedAt, calls } of requests.filter(isCountable)) {
    const month = `${receivedAt.slice(0, 7)}-01`;
    const key = `${sourceId} ${month}`;
    const known = counts.get(key) ?? { sourceId, month, calls: 0 };
    known.calls += calls;
    counts.set(key, known);
  }
  return [...counts.values()];
}

function callSlots(requests: readonly RequestUsage[]): CallSlot[] {
  const slots = new Map<string, CallSlot>();
  for (const { sourceId, receivedAt, calls } of requests.filter(isCountable)) {
    const at = Date.parse(receivedAt);
    if (Number.isNaN(at)) continue;
    const slot = slotOf(at, CALL_SLOT_MS);
    const key = `${sourceId} ${slot.getTime()}`;
    const known = slots.get(key) ?? { sourceId, slot, calls: 0 };
    known.calls += calls;
    slots.set(key, known);
  }
  return [...slots.values()];
}
