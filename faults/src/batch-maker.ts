import type { Batch } from './oracle.ts';
import type { Random } from './seeded-random.ts';
import { type Source, SOURCES } from './sources.ts';

export type PreparedBatch = Batch & { source: Source; body: string };
export type Senders = readonly [Source, ...Source[]];

export type BatchShape = {
  senders?: Senders;
  /** The fewest and the most calls of a batch. */
  sizes?: readonly [number, number];
  /** Each sender after the other, not by the dice. */
  inTurn?: boolean;
  makeCall?: (source: Source, messageId: string) => object;
};

/** Batches from all sources; no id is ever used for two calls. */
export function batchMaker(random: Random, prefix: string, shape: BatchShape = {}): () => PreparedBatch {
  const { senders = SOURCES, sizes = [5, 20], makeCall = plainCall, inTurn } = shape;
  let count = 0;
  return () => {
    count += 1;
    const source = inTurn === true ? (senders[count % senders.length] ?? senders[0]) : random.pick(senders);
    const size = Math.floor(random.between(sizes[0], sizes[1] + 1));
    const ids = Array.from({ length: size }, (_, i) => `${prefix}-${count}-${i}`);
    const batch = ids.map((messageId) => makeCall(source, messageId));
    return { sourceId: source.id, source, ids, body: JSON.stringify({ batch }) };
  };
}

function plainCall(_: Source, messageId: string): object {
  return { type: 'track', userId: 'u1', event: 'Fault Survived', messageId };
}
