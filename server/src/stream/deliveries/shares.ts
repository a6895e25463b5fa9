import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import {
  addBytes,
  destinationLimit,
  divideBytes,
  freeBytes,
  type Held,
  isCrowded,
  type StreamUsage,
  usedShare,
} from './storage-shares.ts';
import { every } from '../../pause.ts';

/** How much each destination and workspace uses of the streams that all share, as this process knows it. */
export type Shares = Disposable & {
  /** Whether the destination or its workspace holds more in the stream than it may now. */
  isOver(stream: string, destinationId: string): boolean;
  /**
   * Stores something. It counts from the start, because much is under way at once when NATS is slow, and no longer when NATS did not
   * take it: an outage with its retries must not make an empty stream look full.
   */
  storing(something: Something, store: () => Promise<Kept>): Promise<Kept>;
  /** The most that one destination may hold now, in the fullest of the streams. */
  limitBytes(): number;
  /** Resolves when the streams have been asked once more. */
  refresh(): Promise<void>;
};

export type Kept = 'stored' | 'full' | 'unavailable';
export type Something = { stream: string; destinationId: string; bytes: number };

export type SharesNeeds = {
  manager: JetStreamManager;
  /** The streams as they are now. */
  streams(): string[];
  /** The destination in a subject of these streams. */
  destinationOf(subject: string): string;
  workspaceOf(destinationId: string): string | undefined;
  /** How many bytes the workspace may have in all these streams together, whatever is free; without it only its share holds. */
  mostOf?(workspaceId: string): number | undefined;
  /** The smallest such number of any workspace. */
  leastMost?(): number;
  /** Something was refused because of such a number. */
  refused?(): void;
  /** How many processes store as this one does. */
  peers(): number;
  log: Logger;
};

const REFRESH_MS = 2_000;
/** While this process stores nothing, and streams are emptier than this, it asks less often. */
const NEARLY_EMPTY = 1 / 16;
const REFRESH_QUIET_MS = 20_000;
/** A stream with so many subjects that the question takes long is asked less often: this many times as long. */
const REST_FACTOR = 20;
const MAX_REST_MS = 10_000;
/** A process that stored this part of the free bytes asks at once. */
const MUCH = 1 / 16;
/** Headers, subject and the engine's own bytes. */
const OVERHEAD_BYTES = 150;
/** How much the latest message counts for the size of a destination's messages. */
const SMOOTHING = 0.1;
/** Destinations whose size of message is remembered. */
const MAX_SIZES = 50_000;

/** `counted`: where it counts now, and with how many bytes. */
type UnderWay = {
  stream: string;
  destinationId: string;
  size: number;
  counted?: { usage: StreamUsage; bytes: number };
};
type Watched = StreamUsage & { storedSince: number };

/**
 * Asks each stream every two seconds how full it is (every twenty while there is nothing to decide), and once it is a quarter full also how many messages each destination has
 * in it. In between every process counts the bytes that it stores itself, times the number of processes: as a rule they share the
 * work equally.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openShares(needs: SharesNeeds): Shares {
  const { workspaceOf, peers, log } = needs;
  const watched = new Map<string, Watched>();
  const sizes = new Map<string, number>();
  const underWay = new Set<UnderWay>();
  const { now: refresh, soon: refreshSoon } = atRests(askAll);
  let askedAt = 0;
  const timer = every(REFRESH_MS, () => {
    if (!isQuiet() || performance.now() - askedAt >= REFRESH_QUIET_MS) refreshSoon();
  });
  void refresh();

  /** Nothing that this process decides depends on the newest numbers: with its first store it asks again. */
  function isQuiet(): boolean {
    const isIdle = ({ storedSince, usedBytes, maxBytes }: Watched) =>
      storedSince === 0 && usedBytes < maxBytes * NEARLY_EMPTY;
    const isKnown = needs.streams().every((stream) => watched.has(stream));
    return isKnown && watched.values().every(isIdle) && storedBytes() * 2 < (needs.leastMost?.() ?? Infinity);
  }

  /** A stream that does not answer is unknown meanwhile: no share of it is refused, and only its own limit holds. */
  async function askAll(): Promise<'answered' | 'unanswered'> {
    askedAt = performance.now();
    const streams = needs.streams();
    for (const stream of watched.keys()) if (!streams.includes(stream)) watched.delete(stream);
    // With fewer bytes in all than the smallest limit, no workspace can be over its own.
    const least = needs.leastMost?.() ?? Infinity;
    const isTold = storedBytes() >= least;
    const asked = await Promise.allSettled(streams.map((stream) => askOne({ stream, isTold }, needs, sizes)));
    for (const [index, stream] of streams.entries()) {
      const answer = asked[index];
      if (answer?.status === 'fulfilled') {
        watched.set(stream, answer.value);
        continue;
      }
      watched.delete(stream);
      log.debug({ stream, error: String(answer?.reason) }, 'shares.not_refreshed');
    }
    for (const one of underWay) {
      const usage = watched.get(one.stream);
      if (usage !== undefined) count(usage, one);
    }
    if (!isTold && storedBytes() >= least) return askAll();
    return asked.every(({ status }) => status === 'fulfilled') ? 'answered' : 'unanswered';
  }

  function storedBytes(): number {
    return watched.values().reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  }

  function count(usage: StreamUsage, one: UnderWay): void {
    const { destinationId, size } = one;
    one.counted = { usage, bytes: size * peers() };
    addBytes(usage, { destinationId, workspaceId: workspaceOf(destinationId) }, one.counted.bytes);
  }

  /** In all streams together. */
  function isOverLimit(workspaceId: string | undefined): boolean {
    const most = workspaceId === undefined ? undefined : needs.mostOf?.(workspaceId);
    if (most === undefined || workspaceId === undefined) return false;
    return watched.values().reduce((sum, { byWorkspace }) => sum + (byWorkspace.get(workspaceId) ?? 0), 0) >= most;
  }

  function takeBack({ destinationId, counted }: UnderWay): void {
    if (counted === undefined) return;
    addBytes(counted.usage, { destinationId, workspaceId: workspaceOf(destinationId) }, -counted.bytes);
  }

  return {
    isOver(stream, destinationId) {
      const workspaceId = workspaceOf(destinationId);
      if (isOverLimit(workspaceId)) {
        needs.refused?.();
        return true;
      }
      const usage = watched.get(stream);
      return usage !== undefined && usedShare(usage, { destinationId, workspaceId }) > 1;
    },
    async storing({ stream, destinationId, bytes }, store) {
      const size = bytes + OVERHEAD_BYTES;
      const one: UnderWay = { stream, destinationId, size };
      noteSize(sizes, destinationId, size);
      const usage = watched.get(stream);
      if (usage !== undefined) {
        count(usage, one);
        usage.storedSince += size;
        if (usage.storedSince > (freeBytes(usage) + usage.storedSince) * MUCH) refreshSoon();
      }
      underWay.add(one);
      let kept: Kept = 'unavailable';
      try {
        kept = await store();
      } finally {
        underWay.delete(one);
        if (kept !== 'stored') takeBack(one);
      }
      return kept;
    },
    limitBytes: () => Math.min(Infinity, ...watched.values().map(destinationLimit)),
    refresh,
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}

/**
 * One question at a time. `soon` does without one while the last is not long ago, compared with the time it took. One that got no
 * answer says nothing about that.
 */
function atRests(ask: () => Promise<'answered' | 'unanswered'>): { now(): Promise<void>; soon(): void } {
  let asking: Promise<void> | undefined;
  let restUntil = 0;
  const askAndRest = async () => {
    const startedAt = performance.now();
    const asked = await ask();
    const tookMs = performance.now() - startedAt;
    restUntil = asked === 'answered' ? performance.now() + Math.min(tookMs * REST_FACTOR, MAX_REST_MS) : 0;
    asking = undefined;
  };
  const now = () => (asking ??= askAndRest());
  return {
    now,
    soon() {
      if (performance.now() >= restUntil) void now();
    },
  };
}

function noteSize(sizes: Map<string, number>, destinationId: string, size: number): void {
  const before = sizes.get(destinationId) ?? size;
  // The last one that stored is the last to be forgotten.
  sizes.delete(destinationId);
  sizes.set(destinationId, before + (size - before) * SMOOTHING);
  if (sizes.size <= MAX_SIZES) return;
  const [oldest] = sizes.keys();
  if (oldest !== undefined) sizes.delete(oldest);
}

async function askOne(
  { stream, isTold }: { stream: string; isTold: boolean },
  needs: SharesNeeds,
  sizes: ReadonlyMap<string, number>,
): Promise<Watched> {
  const { config, state } = await needs.manager.streams.info(stream);
  const fill = { maxBytes: config.max_bytes, usedBytes: state.bytes };
  const usage = { ...fill, byDestination: new Map<string, number>(), byWorkspace: new Map<string, number>() };
  if (!isTold && !isCrowded(fill)) return { ...usage, storedSince: 0 };
  const held = await heldBy(stream, needs, sizes);
  for (const [destinationId, bytes] of divideBytes(state.bytes, held)) {
    usage.byDestination.set(destinationId, bytes);
    const workspaceId = needs.workspaceOf(destinationId);
    if (workspaceId === undefined) continue;
    usage.byWorkspace.set(workspaceId, (usage.byWorkspace.get(workspaceId) ?? 0) + bytes);
  }
  return { ...usage, storedSince: 0 };
}

async function heldBy(
  stream: string,
  { manager, destinationOf }: SharesNeeds,
  sizes: ReadonlyMap<string, number>,
): Promise<Map<string, Held>> {
  const { state } = await manager.streams.info(stream, { subjects_filter: '>' });
  const held = new Map<string, Held>();
  for (const [subject, messages] of Object.entries(state.subjects ?? {})) {
    const destinationId = destinationOf(subject);
    const before = held.get(destinationId)?.messages ?? 0;
    held.set(destinationId, { messages: before + messages, bytesEach: sizes.get(destinationId) });
  }
  return held;
}
