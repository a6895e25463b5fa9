import type { Batch } from './oracle.ts';
import type { Random } from './seeded-random.ts';
import { type Source, SOURCES } from './sources.ts';

export type PreparedBatch = Batch & { source: Source; body: string };
export type Senders = readonly [Source, ...Source[]];

/** Batches of 5 to 20 calls from all sources; no id is ever used for two calls. */
export function batchMaker(random: Random, prefix: string, senders: Senders = SOURCES): () => PreparedBatch {
  let count = 0;
  return () => {
    count += 1;
    const source = random.pick(senders);
    const size = Math.floor(random.between(5, 21));
    const ids = Array.from({ length: size }, (_, i) => `${prefix}-${count}-${i}`);
    const batch = ids.map((messageId) => ({ type: 'track', userId: 'u1', event: 'Fault Survived', messageId }));
    return { sourceId: source.id, source, ids, body: JSON.stringify({ batch }) };
  };
}
