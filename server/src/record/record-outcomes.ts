import type { Logger } from '../log.ts';
import type { Counter } from '../metrics/open-metrics.ts';
import { isOfDatabase, isRefusedData, type Store } from '../store/open-store.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { WaitingLine } from '../stream/nats/waiting-line.ts';
import type { PulledOutcomes, RecordSide } from '../stream/open-record-side.ts';
import { backOff, holdBatches, type ReadBatch } from './hold-batches.ts';
import { firstKeptDays, type RecordSettings, retentionDays } from './record-settings.ts';
import { settleBatches } from './settle-batches.ts';
import { chunksOf, writeOutcomes } from './write-outcomes.ts';
import { every, openBell, pause } from '../pause.ts';

export type RecorderNeeds = {
  store: Store;
  side: Pick<RecordSide, 'pullOutcomes' | 'quarantine'>;
  settings: RecordSettings;
  /** Limits how many recorders of this process write at a time. */
  turns: WaitingLine;
  /** How many batches it may hold at a time, of up to 256 KiB each. */
  mostHeld(): number;
  now(): Date;
  log: Logger;
  /** Counts outcomes that are committed. */
  recorded?: Counter | undefined;
  gatherMs?: number;
  /** In place of PostgreSQL: the simulator has a model of the record. */
  writeIn?: typeof writeOutcomes;
};

export type Recorder = AsyncDisposable & {
  /** The age of the oldest outcome that is not in PostgreSQL yet. */
  lagSeconds(): number;
};

/** How many deliveries are written in one transaction. */
const MAX_ENTRIES = 4_000;
const FEWEST_ENTRIES = 100;
/**
 * Batches that arrive within this time share a transaction, which costs more than the deliveries of a quiet installation. A recorder
 * that holds half of what it may does not wait for the rest.
 */
const GATHER_MS = 200;
/** Without a batch; one that arrives ends the wait. */
const IDLE_MS = 60_000;
const BACK_OFF_MS = { first: 500, most: 5_000 };
/** How often held batches are extended, well within JetStream's ack wait: it redelivers those of a dead process only. */
const HOLD_MS = 2_000;
/** Fresh batches that fail one after the other, each alone, before the recorder blames the database and not the batches. */
const FAILURES_IN_A_ROW = 3;

/**
 * Brings outcomes from one stream into PostgreSQL: many batches in one transaction, acknowledged when it is committed.
 *
 * The recorder writes, or it waits for the database. While it writes, an entry that PostgreSQL refuses goes to quarantine, and a
 * batch that fails is set aside and retried alone (hold-batches.ts). A failure of the database itself, or several fresh
 * batches that fail in a row, make the recorder wait: exponential backoff, smaller transactions. The first commit makes it write
 * again. Meanwhile the batches stay in the stream, and deliveries go on.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function startRecorder(needs: RecorderNeeds, stream: string): Recorder {
  const {
    store,
    side,
    settings,
    turns,
    mostHeld,
    now,
    log,
    recorded,
    gatherMs = GATHER_MS,
    writeIn = writeOutcomes,
  } = needs;
  const held = holdBatches(() => performance.now());
  const arrived = openBell();
  const halfHeld = openBell();
  const stopping = new AbortController();
  const knownPartitions = new Set<string>();
  /** How often in a row the database failed; 0 while the recorder writes. */
  let troubles = 0;
  let failuresInARow = 0;
  /** Halved by each failure: a transaction that exceeds the time limit of a slow database would exceed it each time. */
  let maxEntries = MAX_ENTRIES;

  async function keepWriting(): Promise<void> {
    while (!stopping.signal.aborted) {
      const batches = held.take(maxEntries);
      if (batches.length > 0) await writeSome(batches);
      if (troubles > 0) await pause(backOff(BACK_OFF_MS, troubles), stopping.signal);
      else if (batches.length < mostHeld() / 2) await gather();
    }
  }

  async function gather(): Promise<void> {
    if (held.size() === 0) await arrived.wait(IDLE_MS);
    await halfHeld.wait(gatherMs);
  }

  function put(batch: PulledOutcomes): void {
    held.put(batch);
    if (held.size() >= mostHeld() / 2) halfHeld.ring();
    arrived.ring();
  }

  /** One batch may have caused a failure: each is written alone then, so that one does not block the others. */
  async function writeSome(batches: ReadBatch[]): Promise<void> {
    const error = await tryToWrite(batches);
    if (error === undefined) return;
    if (isOfDatabase(error)) return waitForStore(error);
    for (const each of batches) {
      const ownError = batches.length === 1 ? error : await tryToWrite([each]);
      if (ownError === undefined) continue;
      if (isOfDatabase(ownError)) return waitForStore(ownError);
      const { sequence } = each.batch;
      const wasFresh = held.setAside(sequence);
      if (wasFresh) failuresInARow += 1;
      if (failuresInARow >= FAILURES_IN_A_ROW) return waitForStore(ownError);
      if (wasFresh) log.error({ stream, sequence, error: String(ownError) }, 'outcomes.set_aside');
    }
  }

  /** Returns the error; undefined when all are settled. */
  async function tryToWrite(batches: ReadBatch[]): Promise<Error | undefined> {
    try {
      await settleBatches(batches, { write: commit, quarantine: side.quarantine, log });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    recover();
    for (const { batch } of batches) held.settle(batch.sequence);
    return undefined;
  }

  function recover(): void {
    failuresInARow = 0;
    maxEntries = Math.min(MAX_ENTRIES, maxEntries * 2);
    if (troubles === 0) return;
    troubles = 0;
    held.tryAllAgain();
    log.info({ stream }, 'record.resumed');
  }

  function waitForStore(error: Error): void {
    if (troubles === 0) log.warn({ stream, error: String(error) }, 'record.waiting');
    troubles += 1;
    maxEntries = Math.max(FEWEST_ENTRIES, Math.floor(maxEntries / 2));
  }

  async function commit(entries: OutcomeEntry[]): Promise<void> {
    try {
      await write(entries);
    } catch (error) {
      const knewPartitions = knownPartitions.size > 0;
      knownPartitions.clear();
      // Another process may have dropped a partition that we know of, which PostgreSQL calls a violated constraint.
      if (!knewPartitions || !isRefusedData(error)) throw error;
      await write(entries);
    }
  }

  async function write(entries: OutcomeEntry[]): Promise<void> {
    const { recordsFrom } = firstKeptDays(settings, now());
    const { sample, rows } = settings;
    const today = now().toISOString().slice(0, 10);
    const needs = { sample, rows, recordsFrom, retentionDays: retentionDays(settings), today, knownPartitions };
    await turns.enter();
    await store.asSystem((tx) => writeIn(tx, entries, needs)).finally(turns.leave);
    recorded?.add(entries.length);
    knownPartitions.add(chunksOf(today));
    for (const { receivedAt, at } of entries) {
      knownPartitions.add(receivedAt.slice(0, 10));
      knownPartitions.add(new Date(at).toISOString().slice(0, 7));
    }
  }

  const pulling = side.pullOutcomes({ stream, room: () => mostHeld() - held.size(), taken: put });
  const holding = every(HOLD_MS, () => {
    for (const batch of held.all()) batch.stillHeld();
  });
  const writing = keepWriting();
  return {
    lagSeconds() {
      const oldest = Math.min(...Iterator.from(held.all()).map(({ storedAt }) => storedAt));
      return oldest === Infinity ? 0 : Math.max(0, (now().getTime() - oldest) / 1_000);
    },
    async [Symbol.asyncDispose]() {
      await pulling[Symbol.asyncDispose]();
      stopping.abort();
      arrived.ring();
      halfHeld.ring();
      await writing;
      holding[Symbol.dispose]();
      for (const batch of held.all()) batch.giveBack();
    },
  };
}
