import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { isOfDatabase, isRefusedData, type Store } from '../store/open-store.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import { backOff, type HeldBatches, holdBatches, type ReadBatch } from './hold-batches.ts';
import { firstKeptDays, type RecordSettings } from './record-settings.ts';
import { settleBatches } from './settle-batches.ts';
import { type WriteNeeds, writeOutcomes } from './write-outcomes.ts';

export type RecorderNeeds = {
  store: Store;
  side: Pick<RecordSide, 'pullOutcomes' | 'quarantine'>;
  settings: RecordSettings;
  now(): Date;
  log: Logger;
};

export type Recorder = AsyncDisposable & {
  /** The age of the oldest outcome that is not in PostgreSQL yet. */
  lagSeconds(): number;
};

/** Batches held at a time, and how many deliveries are written in one transaction. */
const MAX_HELD = 200;
const MAX_ENTRIES = 4_000;
const FEWEST_ENTRIES = 100;
/** So that a quiet flow does not pay a transaction for each batch. */
const GATHER_MS = 50;
const BACK_OFF_MS = { first: 500, most: 5_000 };
/** Well within the engine's patience: it hands on what a dead process held, and nothing that a living one holds. */
const HOLD_MS = 2_000;
/** Fresh batches that fail one after the other, each alone, before the recorder blames the database and not the batches. */
const FAILURES_IN_A_ROW = 3;

type State = {
  needs: RecorderNeeds;
  held: HeldBatches;
  made: Set<string>;
  /** How often in a row PostgreSQL took nothing. */
  troubles: number;
  failuresInARow: number;
  /** Smaller after trouble: what is too much for a slow database within its time limit would be too much each time. */
  most: number;
};

/**
 * Brings what happened from the stream into PostgreSQL: many batches in one transaction, acknowledged when it is committed.
 * Data that PostgreSQL refuses goes to quarantine, entry by entry. Whatever else fails is tried again: meanwhile the batches
 * stay in the stream, and deliveries go on.
 */
export function startRecorder(needs: RecorderNeeds): Recorder {
  const held = holdBatches(() => performance.now());
  const state: State = { needs, held, made: new Set(), troubles: 0, failuresInARow: 0, most: MAX_ENTRIES };
  const stopping = new AbortController();
  const pulling = needs.side.pullOutcomes({ room: () => MAX_HELD - held.size(), taken: held.put });
  const holding = setInterval(() => {
    for (const batch of held.all()) batch.stillHeld();
  }, HOLD_MS);
  const writing = writeOn(state, stopping.signal);
  return {
    lagSeconds() {
      const oldest = Math.min(...Iterator.from(held.all()).map(({ storedAt }) => storedAt));
      return oldest === Infinity ? 0 : Math.max(0, (needs.now().getTime() - oldest) / 1_000);
    },
    async [Symbol.asyncDispose]() {
      await pulling[Symbol.asyncDispose]();
      stopping.abort();
      await writing;
      clearInterval(holding);
      for (const batch of held.all()) batch.giveBack();
    },
  };
}

async function writeOn(state: State, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const batches = state.held.take(state.most);
    if (batches.length > 0) await writeSome(state, batches);
    if (state.troubles > 0) await pause(backOff(BACK_OFF_MS, state.troubles), signal);
    else if (batches.length < MAX_HELD / 2) await pause(GATHER_MS, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Trouble that may come from one batch is looked for in each of them, so that one does not hold up the others. */
async function writeSome(state: State, batches: ReadBatch[]): Promise<void> {
  const error = await tryToWrite(state, batches);
  if (error === undefined) return;
  if (isOfDatabase(error)) return waitForStore(state, error);
  for (const each of batches) {
    const ownError = batches.length === 1 ? error : await tryToWrite(state, [each]);
    if (ownError === undefined) continue;
    if (isOfDatabase(ownError)) return waitForStore(state, ownError);
    const wasFresh = state.held.setAside(each.batch.sequence);
    if (wasFresh) state.failuresInARow += 1;
    if (state.failuresInARow >= FAILURES_IN_A_ROW) return waitForStore(state, ownError);
    if (wasFresh)
      state.needs.log.error({ sequence: each.batch.sequence, error: String(ownError) }, 'outcomes.set_aside');
  }
}

/** Answers what went wrong; undefined when all are settled. */
async function tryToWrite(state: State, batches: ReadBatch[]): Promise<Error | undefined> {
  const { log, side } = state.needs;
  try {
    await settleBatches(batches, { write: (entries) => commit(state, entries), quarantine: side.quarantine, log });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  recover(state);
  for (const { batch } of batches) state.held.settle(batch.sequence);
  return undefined;
}

function recover(state: State): void {
  state.failuresInARow = 0;
  state.most = Math.min(MAX_ENTRIES, state.most * 2);
  if (state.troubles === 0) return;
  state.troubles = 0;
  state.held.tryAllAgain();
  state.needs.log.info({}, 'record.resumed');
}

function waitForStore(state: State, error: Error): void {
  if (state.troubles === 0) state.needs.log.warn({ error: String(error) }, 'record.waiting');
  state.troubles += 1;
  state.most = Math.max(FEWEST_ENTRIES, Math.floor(state.most / 2));
}

async function commit(state: State, entries: OutcomeEntry[]): Promise<void> {
  try {
    await write(state, entries);
  } catch (error) {
    const knewPartitions = state.made.size > 0;
    state.made.clear();
    // Another process may have dropped a partition that we know of, which PostgreSQL calls a violated constraint.
    if (!knewPartitions || !isRefusedData(error)) throw error;
    await write(state, entries);
  }
}

async function write(state: State, entries: OutcomeEntry[]): Promise<void> {
  const { store, settings, now } = state.needs;
  const { recordsFrom } = firstKeptDays(settings, now());
  const needs: WriteNeeds = { sample: settings.sample, recordsFrom, made: state.made };
  await store.asSystem((tx) => writeOutcomes(tx, entries, needs));
  for (const { receivedAt, at } of entries) {
    state.made.add(receivedAt.slice(0, 10));
    state.made.add(new Date(at).toISOString().slice(0, 7));
  }
}
