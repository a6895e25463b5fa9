import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { isUnavailable, type Store } from '../store/open-store.ts';
import type { OutcomeEntry } from '../stream/outcomes.ts';
import type { PulledOutcomes, RecordSide } from '../stream/open-record-side.ts';
import { firstKeptDays, type RecordSettings } from './record-settings.ts';
import { type WriteNeeds, writeOutcomes } from './write-outcomes.ts';

export type RecorderNeeds = {
  store: Store;
  side: Pick<RecordSide, 'pullOutcomes'>;
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
const MAX_BYTES = 8_388_608;
/** So that a quiet flow does not pay a transaction for each batch. */
const GATHER_MS = 50;
const PAUSE_MS = 500;
/** Well within the engine's patience: it hands on what a dead process held, and nothing that a living one holds. */
const HOLD_MS = 2_000;

type State = {
  needs: RecorderNeeds;
  held: Map<number, PulledOutcomes>;
  made: Set<string>;
  isTroubled: boolean;
  /** Smaller after trouble: what is too much for a slow database within its time limit would be too much each time. */
  most: number;
};

/**
 * Brings what happened from the stream into PostgreSQL: many batches in one transaction, acknowledged when it is committed.
 * While PostgreSQL is away the batches stay in the stream, and deliveries go on.
 */
export function startRecorder(needs: RecorderNeeds): Recorder {
  const state: State = { needs, held: new Map(), made: new Set(), isTroubled: false, most: MAX_ENTRIES };
  const stopping = new AbortController();
  const pulling = needs.side.pullOutcomes({
    room: () => MAX_HELD - state.held.size,
    // A copy of one that we hold: the engine lost patience, and the new copy is the one to acknowledge.
    taken: (batch) => void state.held.set(batch.sequence, batch),
  });
  const holding = setInterval(() => {
    for (const batch of state.held.values()) batch.stillHeld();
  }, HOLD_MS);
  const writing = writeOn(state, stopping.signal);
  return {
    lagSeconds() {
      const oldest = Math.min(...state.held.values().map(({ storedAt }) => storedAt));
      return oldest === Infinity ? 0 : Math.max(0, (needs.now().getTime() - oldest) / 1_000);
    },
    async [Symbol.asyncDispose]() {
      await pulling[Symbol.asyncDispose]();
      stopping.abort();
      await writing;
      clearInterval(holding);
      for (const batch of state.held.values()) batch.giveBack();
    },
  };
}

async function writeOn(state: State, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const batches = takeSome(state);
    if (batches.length === 0) {
      await sleep(GATHER_MS);
      continue;
    }
    const written = await write(state, batches);
    if (written === 'unavailable') await sleep(PAUSE_MS);
    else if (batches.length < MAX_HELD / 2) await sleep(GATHER_MS);
  }
}

type Read = { batch: PulledOutcomes; entries: OutcomeEntry[] };

function takeSome({ held, needs, most }: State): Read[] {
  const some: Read[] = [];
  let entries = 0;
  let bytes = 0;
  for (const batch of held.values()) {
    const read = { batch, entries: readEntries(batch, needs.log) };
    entries += read.entries.length;
    bytes += batch.bytes;
    if (some.length > 0 && (entries > most || bytes > MAX_BYTES)) break;
    some.push(read);
  }
  return some;
}

/** What cannot be read now never will be. */
function readEntries(batch: PulledOutcomes, log: Logger): OutcomeEntry[] {
  try {
    return batch.entries();
  } catch (error) {
    log.error({ sequence: batch.sequence, error: String(error) }, 'outcomes.unreadable');
    return [];
  }
}

async function write(state: State, batches: Read[]): Promise<'written' | 'unavailable'> {
  const { needs, held } = state;
  try {
    await commit(
      state,
      batches.flatMap(({ entries }) => entries),
    );
  } catch (error) {
    // Another process may have dropped or made partitions meanwhile.
    state.made.clear();
    if (isUnavailable(error)) return waitForStore(state, error);
    if (batches.length > 1) return writeEach(state, batches);
    const [one] = batches;
    needs.log.error({ sequence: one?.batch.sequence, error: String(error) }, 'outcomes.refused');
  }
  state.isTroubled = false;
  state.most = Math.min(MAX_ENTRIES, state.most * 2);
  for (const { batch } of batches) {
    held.get(batch.sequence)?.ack();
    held.delete(batch.sequence);
  }
  return 'written';
}

/** One batch that PostgreSQL does not take must not keep the others from it. */
async function writeEach(state: State, batches: Read[]): Promise<'written' | 'unavailable'> {
  for (const batch of batches) if ((await write(state, [batch])) === 'unavailable') return 'unavailable';
  return 'written';
}

function waitForStore(state: State, error: unknown): 'unavailable' {
  if (!state.isTroubled) state.needs.log.warn({ error: String(error) }, 'record.waiting');
  state.isTroubled = true;
  state.most = Math.max(FEWEST_ENTRIES, state.most / 2);
  return 'unavailable';
}

async function commit(state: State, entries: OutcomeEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const { store, settings, now } = state.needs;
  const { recordsFrom } = firstKeptDays(settings, now());
  const needs: WriteNeeds = { sample: settings.sample, recordsFrom, made: state.made };
  await store.asSystem((tx) => writeOutcomes(tx, entries, needs));
  for (const { receivedAt, at } of entries) {
    state.made.add(receivedAt.slice(0, 10));
    state.made.add(new Date(at).toISOString().slice(0, 7));
  }
}
