import type { WorkedBucket } from '../../stream/deliveries/worked-bucket.ts';
import { every } from '../../pause.ts';

/** Receivers that worked lately, as all deliver processes know them together. */
export type Worked = AsyncDisposable & {
  isKnown(destinationId: string): boolean;
  /** The receiver took a delivery. */
  note(destinationId: string): void;
};

export type WorkedNeeds = { bucket: WorkedBucket; now(): number };

/** Longer than a night, so that a receiver that gets one event a day is known. The bucket forgets after the same time. */
export const KNOWN_FOR_MS = 24 * 3_600_000;
/** How often a mark is renewed. One process does it, and all others see that. */
const MARK_EVERY_MS = 3_600_000;
/** Right after the first start every destination is marked: at this pace, beside the deliveries. */
const FLUSH_MS = 1_000;
const MARKS_AT_ONCE = 200;

/** Reads the bucket before it resolves, so that a new process knows these receivers from its first delivery on. */
export async function openWorked({ bucket, now }: WorkedNeeds): Promise<Worked> {
  const markedAt = new Map<string, number>();
  const unmarked = new Set<string>();
  const watch = await bucket.watch((destinationId, at) => {
    markedAt.set(destinationId, at);
    unmarked.delete(destinationId);
  });
  const flusher = every(FLUSH_MS, () => {
    for (const destinationId of [...unmarked].slice(0, MARKS_AT_ONCE)) {
      bucket.put(destinationId);
      unmarked.delete(destinationId);
    }
  });
  const forgetter = every(MARK_EVERY_MS, () => {
    for (const [id, at] of markedAt) if (now() - at > KNOWN_FOR_MS) markedAt.delete(id);
  });
  return {
    isKnown: (destinationId) => now() - (markedAt.get(destinationId) ?? -Infinity) < KNOWN_FOR_MS,
    note(destinationId) {
      if (now() - (markedAt.get(destinationId) ?? -Infinity) < MARK_EVERY_MS) return;
      markedAt.set(destinationId, now());
      unmarked.add(destinationId);
    },
    async [Symbol.asyncDispose]() {
      flusher[Symbol.dispose]();
      forgetter[Symbol.dispose]();
      for (const destinationId of unmarked) bucket.put(destinationId);
      await watch[Symbol.asyncDispose]();
    },
  };
}
