import assert from 'node:assert/strict';
import type { Delivery } from '../src/domain/delivery.ts';
import type { StampedPosition } from '../src/deliver/lane/lane-note.ts';
import type { Taken } from '../src/deliver/lane/tier-group.ts';
import { readTier } from '../src/deliver/lane/tier-reader.ts';
import { openMemoryLane } from './memory-lane.ts';

/** A tier in memory, and a reader of it with a clock of the test's own. */
export function openTier(groups: Record<number, string[]>, parkedAt = 0, each?: (id: string) => Partial<Delivery>) {
  const { stored, drops, reads, trouble, lanes } = openMemoryLane(groups, { parkedAt }, each);
  const seen: number[] = [];
  const clock = { now: 0 };
  const needs = {
    lanes,
    destinationId: 'dst_1',
    groups: Infinity,
    seen: ({ deliveries }: { deliveries: number }) => void seen.push(deliveries),
    longestMs: 0,
    uptimeMs: () => clock.now,
  };
  return {
    clock,
    drops,
    trouble,
    seen,
    reads,
    append: (sequence: number, ids: string[]) => stored.set(sequence, ids),
    left: () => [...stored.values()].flat(),
    read: (start?: StampedPosition) => readTier(2, start, needs),
    readCounted: () => readTier(2, undefined, { ...needs, groups: stored.size }),
  };
}

export type Reader = ReturnType<typeof readTier>;

export async function takeAll(reader: Reader, most = Infinity): Promise<Taken[]> {
  const all: Taken[] = [];
  while (all.length < most && (await reader.head()) !== undefined) all.push(reader.take() ?? assert.fail());
  return all;
}

export const ids = (all: readonly Taken[]) => all.map(({ delivery }) => delivery.id);
