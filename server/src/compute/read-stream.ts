/**
 * The reader of one event stream, which this process holds. It finds its place (`begin`), then takes turns: due timers, and the next
 * batch of requests, each in one transaction with the position. A reader ends when it is stopped, when another process has taken over
 * (`lost`), when the database was lost in the middle of a transaction (`unsure`: the stored position tells what was committed), or when
 * the stream is gone.
 *
 * Definitions change between batches only: when a transaction finds newer ones, it notes from where this stream counts for them, folds
 * nothing, and the batch is read again by them.
 */
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { pause } from '../pause.ts';
import { isOfDatabase, isUnavailable } from '../store/open-store.ts';
import { type BatchReader, type BatchRequest, MOST_LEFT, type ReadBatch } from '../stream/events/read-batches.ts';
import type { StreamPlace } from '../stream/nats/stream-place.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { StalePlan } from './fold/evaluate.ts';
import type { Folded, Folding } from './fold-requests.ts';
import type { KnownPlans } from './known-plans.ts';
import type { KnownSources } from './known-sources.ts';
import {
  type FoldTx,
  type HeldPosition,
  LostPosition,
  type Position,
  type ProfileStore,
} from './profiles/profile-store.ts';
import { openTimers } from './run-timers.ts';
import { openFloorWriter } from './write-floors.ts';
import type { Watermark } from './watermark.ts';

export type ReaderEnd = 'stopped' | 'lost' | 'unsure' | 'gone';
export type StreamReader = {
  stop(): Promise<void>;
  ended: Promise<ReaderEnd>;
  /** Age of the oldest event that it has not folded. */
  lagMs(): number;
  overdueMs(): number;
};

export type ReaderNeeds = {
  side: ComputeSide;
  profiles: ProfileStore;
  plans: KnownPlans;
  sources: KnownSources;
  folding: Folding;
  watermark: Watermark;
  /** How often it was told that definitions have changed. */
  definitionChanges(): number;
  metrics: Metrics;
  /** Transitions were committed. */
  changed(): void;
  log: Logger;
};

/** A commit at least this often tells the other processes that the reader is alive, and how far it is. */
const BEAT_MS = 2_000;
const IDLE_MS = 500;
/** Collect stamps an event before it stores it, and gives up storing after four seconds. */
const IN_FLIGHT_MS = 5_000;
const RETRY_MS = 500;

/** After a turn the reader takes the next one, reads the same batch by newer definitions (`again`), or looks for its place in a stream made `anew`. */
type Turn = 'done' | 'again' | 'anew';

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function startReader(held: HeldPosition, needs: ReaderNeeds): StreamReader {
  const { side, profiles, plans, sources, folding, watermark, log } = needs;
  const { stream } = held;
  const life = new AbortController();
  const { signal } = life;
  const seconds = needs.metrics.histogram('millrace_compute_batch_seconds');
  const fates = needs.metrics.counters('millrace_compute_events_total');
  const lost = needs.metrics.counter('millrace_compute_gaps_total');
  const floor = openFloorWriter(stream, side.floors);
  const timers = openTimers({ ...needs, now: side.now });
  const failed = new Set<number>();
  let position = held.position ?? NOWHERE;
  /** The definitions whose start in this stream is stored. */
  let startedVersion = -1;
  let committedMs = -Infinity;
  let changesSeen = -1;
  let isAtEnd = false;

  async function readOn(): Promise<ReaderEnd> {
    while (!signal.aborted) {
      const isThere = await begin();
      if (!isThere) return 'gone';
      for (let turn: Turn = 'again'; turn !== 'anew' && !signal.aborted; ) {
        await using reader = side.batches({ stream, position, isWanted: sources.isWanted, triedInVain: failed });
        turn = await takeTurns(reader);
      }
    }
    await commit(() => Promise.resolve(), position);
    return 'stopped';
  }

  /** False when there is no such stream. */
  async function begin(): Promise<boolean> {
    const isNew = position === NOWHERE;
    const found = await side.findPlace(stream, isNew ? undefined : position);
    if (found === undefined) return false;
    const { place, isAnew } = found;
    if (isAnew) log.warn({ stream, from: position.sequence, to: place.sequence }, 'stream.made_anew');
    const isMissing = isAnew && position.left.length > 0;
    const since = position.storedAt;
    if (isNew) position = await firstPosition(place);
    else position = { ...place, clock: position.clock, left: isAnew ? [] : position.left };
    await commit((tx) => (isMissing ? tx.markIncomplete(since) : Promise.resolve()), position);
    watermark.moved(stream, position.clock);
    // The clock work of the last position first: an event that is read now may be newer than a timer that has not run.
    while (!signal.aborted && (await timers.run(commit, watermark.now())) === 'more');
    return true;
  }

  /** A stream without a position is read from its end, and the lifecycle reads its past; one that was added later, from its beginning. */
  async function firstPosition(end: StreamPlace): Promise<Position> {
    const isYoung = await profiles.countsFromTheBeginning();
    if (!isYoung) return { ...end, clock: side.now() - IN_FLIGHT_MS, left: [] };
    const { createdAt } = end;
    return { createdAt, sequence: 0, storedAt: createdAt, clock: createdAt - IN_FLIGHT_MS, left: [] };
  }

  async function takeTurns(reader: BatchReader): Promise<Turn> {
    while (!signal.aborted) {
      const version = plans.version();
      const isBusy = (await timers.runWhenDue(commit, watermark.now())) === 'more';
      const batch = await reader.next(isBusy ? 0 : IDLE_MS);
      if (batch === undefined) return 'anew';
      if ((await take(batch, version)) === 'again') return 'again';
    }
    return 'done';
  }

  /** `version`: of the definitions that decided which sources were read. */
  async function take(batch: ReadBatch, version: number): Promise<Turn> {
    const next = { ...batch.position, clock: clockAfter(batch) };
    const changes = needs.definitionChanges();
    const isChange = batch.requests.length > 0 || batch.gaps.length > 0 || next.left !== position.left;
    if (isChange || changes !== changesSeen || performance.now() - committedMs >= BEAT_MS) {
      await folding.prepare(batch.requests);
      const startedMs = performance.now();
      const folded = await foldAll(batch, next, version).catch((error: unknown) => foldOneByOne(batch, next, error));
      if (folded === 'again') return 'again';
      if (batch.requests.length > 0) seconds.observe((performance.now() - startedMs) / 1_000);
      tell(batch, folded);
      changesSeen = changes;
    }
    position = next;
    isAtEnd = batch.endSeenMs !== undefined;
    watermark.moved(stream, position.clock);
    return 'done';
  }

  function foldAll(batch: ReadBatch, next: Position, version: number): Promise<Folded | 'again'> {
    const since = position.storedAt;
    return commit(async (tx) => {
      if (batch.gaps.length > 0) await tx.markIncomplete(since);
      // From here to the choice of plans nothing waits: another reader may learn of newer definitions at any moment.
      if (plans.version() !== version) return 'again';
      return batch.requests.length === 0 ? NOTHING : folding.foldRequests(tx, batch.requests);
    }, next);
  }

  /** A request that the fold stumbles over is left for a version that does not; the others go on. */
  async function foldOneByOne(batch: ReadBatch, next: Position, error: unknown): Promise<'again'> {
    if (isOurs(error)) throw error;
    log.error({ stream, from: position.sequence + 1, through: next.sequence, error: String(error) }, 'batch.failed');
    for (const request of batch.requests) await foldOne(request);
    return 'again';
  }

  async function foldOne(request: BatchRequest): Promise<void> {
    const { sequence, storedAt, events } = request;
    const isOld = sequence <= position.sequence;
    const after = isOld ? position : { ...position, sequence, storedAt };
    const without = { ...after, left: position.left.filter((each) => each !== sequence) };
    try {
      const folded = await commit((tx) => folding.foldRequests(tx, [request]), without);
      // A user was erased meanwhile: the request is read again.
      if (folded === 'again') return;
      folding.count(folded);
      position = without;
    } catch (error) {
      if (isOurs(error)) throw error;
      log.error({ stream, sequence, error: String(error) }, 'request.failed');
      fates('failed').add(events.length);
      failed.add(sequence);
      const left = [...without.left, sequence].slice(-MOST_LEFT);
      const isLost = left.length <= without.left.length;
      await commit((tx) => (isLost ? tx.markIncomplete(storedAt) : Promise.resolve()), { ...after, left });
      if (isLost) lost.add(1);
      position = { ...after, left };
    }
  }

  /** Folds nothing and resolves with `again` when there are newer definitions than this stream has begun to count for. */
  async function commit<T>(work: (tx: FoldTx) => Promise<T>, next: Position | undefined): Promise<T | 'again'> {
    for (;;) {
      try {
        const done = await profiles.fold(held, async (tx) => {
          await plans.refresh(tx);
          const version = plans.version();
          if (version !== startedVersion) {
            await startFolding(tx);
            return { version };
          }
          const value = await work(tx);
          if (next !== undefined && value !== 'again') await tx.moveTo(next);
          return { value };
        });
        // The work of timers leaves the position alone: it is no beat.
        if (next !== undefined) committedMs = performance.now();
        if ('value' in done) {
          floor.moved(next ?? position);
          return done.value;
        }
        startedVersion = done.version;
      } catch (error) {
        if (error instanceof StalePlan) plans.forget();
        else if (isOurs(error) || !isOfDatabase(error)) throw error;
        log.debug({ stream, error: String(error) }, 'fold.repeated');
        await pause(RETRY_MS, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  async function startFolding(tx: FoldTx): Promise<void> {
    const { createdAt, sequence, storedAt, left } = position;
    const place = { createdAt, sequence: sequence + 1, storedAt, left };
    await tx.startFolding({ version: plans.version(), place, ...plans.unfinished() });
    await tx.moveTo(position);
  }

  /** Everything that was received up to then has been read. */
  function clockAfter({ endSeenMs, position: { storedAt } }: ReadBatch): number {
    const upTo = endSeenMs === undefined ? storedAt : side.now() - (performance.now() - endSeenMs);
    return Math.max(position.clock, Math.round(upTo - IN_FLIGHT_MS));
  }

  function tell({ skipped, gaps }: ReadBatch, folded: Folded): void {
    folding.count(folded);
    if (skipped.unreadable > 0) fates('unreadable').add(skipped.unreadable);
    if (skipped.newer > 0) fates('newer').add(skipped.newer);
    for (const gap of gaps) log.error({ stream, ...gap }, 'events.trimmed_unread');
    if (gaps.length > 0) lost.add(gaps.length);
    if (folded.transitions.length > 0) needs.changed();
  }

  const ended = readOn().catch((error: unknown) =>
    endOf(error, () => log.error({ stream, error: String(error) }, 'reader.failed')),
  );
  return {
    ended,
    async stop() {
      life.abort();
      await ended;
    },
    lagMs: () => (isAtEnd || position === NOWHERE ? 0 : Math.max(0, side.now() - position.storedAt)),
    overdueMs: timers.overdueMs,
  };
}

/** Before the first position of a stream is known. */
const NOWHERE: Position = { createdAt: 0, sequence: 0, storedAt: 0, clock: 0, left: [] };
const NOTHING: Folded = { transitions: [], fates: {}, evictedIds: 0 };

/** How the work on a position ends by an error. */
export function endOf(error: unknown, logUnexpected: () => void): ReaderEnd {
  if (error instanceof LostPosition) return 'lost';
  if (!isUnavailable(error)) logUnexpected();
  return 'unsure';
}

/** Errors that say something about the position or the database, and not about an event. */
function isOurs(error: unknown): boolean {
  return error instanceof LostPosition || isUnavailable(error) || isOfDatabase(error);
}
