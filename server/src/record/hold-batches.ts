/**
 * The batches that the recorder holds. A batch is fresh, and the recorder writes it together with others; or it is set aside,
 * because writing it alone failed: then the recorder retries it alone, with exponential backoff, while the others go on. A batch
 * leaves when the recorder settles it, or with the process.
 */
import type { ReadEntries } from '../domain/read-outcomes.ts';
import type { PulledOutcomes } from '../stream/open-record-side.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';

export type ReadBatch = {
  batch: PulledOutcomes;
  entries: OutcomeEntry[];
  /** Parts of it that cannot be read as entries. */
  bad: ReadEntries['bad'];
  /** Why the batch as a whole cannot be read. */
  unreadable?: string;
};

export type HeldBatches = {
  size(): number;
  all(): Iterable<PulledOutcomes>;
  put(batch: PulledOutcomes): void;
  /** Returns fresh batches with about this many entries, or one that was set aside and is due. */
  take(mostEntries: number): ReadBatch[];
  /** Returns whether the batch was fresh until now. */
  setAside(sequence: number): boolean;
  /** All that were set aside may be tried again now. */
  tryAllAgain(): void;
  settle(sequence: number): void;
};

const MAX_BYTES = 8_388_608;
const BACK_OFF_MS = { first: 500, most: 30_000 };

export function holdBatches(nowMs: () => number): HeldBatches {
  const held = new Map<number, { batch: PulledOutcomes; failures: number; notBefore: number }>();
  return {
    size: () => held.size,
    all: () => held.values().map(({ batch }) => batch),
    // After the ack wait NATS redelivers a batch that we hold: the new copy is the one to acknowledge.
    put(batch) {
      const { failures, notBefore } = held.get(batch.sequence) ?? { failures: 0, notBefore: 0 };
      held.set(batch.sequence, { batch, failures, notBefore });
    },
    take(mostEntries) {
      const ready = held.values().filter(({ notBefore }) => notBefore <= nowMs());
      const [alone, fresh] = partition([...ready]);
      return alone === undefined ? upTo(fresh, mostEntries) : [readBatch(alone)];
    },
    setAside(sequence) {
      const known = held.get(sequence);
      if (known === undefined) return false;
      known.failures += 1;
      known.notBefore = nowMs() + backOff(BACK_OFF_MS, known.failures);
      return known.failures === 1;
    },
    tryAllAgain() {
      for (const each of held.values()) each.notBefore = 0;
    },
    settle(sequence) {
      held.get(sequence)?.batch.ack();
      held.delete(sequence);
    },
  };
}

function partition(
  ready: { batch: PulledOutcomes; failures: number }[],
): [alone: PulledOutcomes | undefined, fresh: PulledOutcomes[]] {
  const { fresh = [], aside = [] } = Object.groupBy(ready, ({ failures }) => (failures === 0 ? 'fresh' : 'aside'));
  return [aside[0]?.batch, fresh.map(({ batch }) => batch)];
}

function upTo(batches: readonly PulledOutcomes[], mostEntries: number): ReadBatch[] {
  const some: ReadBatch[] = [];
  let entries = 0;
  let bytes = 0;
  for (const batch of batches) {
    const read = readBatch(batch);
    entries += read.entries.length;
    bytes += batch.bytes;
    if (some.length > 0 && (entries > mostEntries || bytes > MAX_BYTES)) break;
    some.push(read);
  }
  return some;
}

function readBatch(batch: PulledOutcomes): ReadBatch {
  const read = batch.entries();
  return read.ok ? { batch, ...read.value } : { batch, entries: [], bad: [], unreadable: read.why };
}

/** Twice as long after each failure. */
export function backOff({ first, most }: { first: number; most: number }, failures: number): number {
  return Math.min(most, first * 2 ** Math.min(20, failures - 1));
}
