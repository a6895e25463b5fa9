import assert from 'node:assert/strict';
import { type Delivery, encodeDeliveries } from '../src/domain/delivery.ts';
import type { Lanes } from '../src/stream/deliveries/lanes.ts';
import { aDelivery } from './samples.ts';

/**
 * A stand-in for the lanes of the engine: one tier of one lane, in memory, with groups of delivery ids by their sequences.
 * `trouble` makes the engine fail as the test wants.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openMemoryLane(
  groups: Record<number, string[]>,
  change: Partial<Delivery> & { parkedAt?: number } = {},
  each: (id: string) => Partial<Delivery> = () => ({}),
) {
  const { parkedAt = 0, ...delivery } = change;
  const stored = new Map(Object.entries(groups).map(([sequence, ids]) => [Number(sequence), ids]));
  const last = Math.max(0, ...stored.keys());
  const drops: number[] = [];
  const trouble = { read: false, drop: false, count: false };
  const failIf = (isTrue: boolean) => (isTrue ? Promise.reject(new Error('no leader')) : Promise.resolve());
  let reads = 0;
  const lanes: Lanes = {
    append: () => assert.fail('nothing is parked here'),
    remove: async () => undefined,
    async forget(_, sequence) {
      await failIf(trouble.drop);
      stored.delete(sequence);
    },
    async read(_, from, most) {
      reads += 1;
      await failIf(trouble.read);
      const found = [...stored].filter(([sequence]) => sequence >= from).slice(0, most);
      return found.map(([sequence, ids]) => {
        const texts = ids.map((id) => JSON.stringify(aDelivery({ takenAt: parkedAt, ...delivery, ...each(id), id })));
        return { sequence, parkedAt, payload: encodeDeliveries(texts), format: '' };
      });
    },
    async count() {
      await failIf(trouble.count);
      return new Map(stored.size === 0 ? [] : [[0, stored.size]]);
    },
    lastSequence: async () => last,
    async drop(_, upTo) {
      await failIf(trouble.drop);
      drops.push(upTo);
      for (const sequence of stored.keys()) if (sequence <= upTo) stored.delete(sequence);
    },
    setAside: () => assert.fail('all of it can be read'),
    left: () => assert.fail('none of it is newer'),
    list: async () => new Set<string>(),
    streamOf: () => 'LANES-0',
    streams: () => ['LANES-0'],
    home: () => 0,
    isOnlyHome: () => true,
  };
  return { stored, drops, reads: () => reads, trouble, lanes };
}
