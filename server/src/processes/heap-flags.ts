import type { Machine } from './plan-processes.ts';

export type HeapNeeds = Omit<Machine, 'cores'> & {
  processes: number;
  /** The flags and NODE_OPTIONS of the supervisor, which a child inherits. */
  given: string;
  /** The heap that V8 allows a process which has the whole memory to itself. */
  ownHeapBytes: number;
};

/** Node gives half of the memory to the heap of a process alone; buffers, threads and code need the rest. */
const HEAP_PART = 1 / 2;
/** With less, a child would collect garbage all the time or end at its start. An operator who asks for so many has to give them memory. */
const LEAST_BYTES = 256 * 2 ** 20;
const GIVEN = /--max[-_]old[-_]space[-_]size/;

/**
 * V8 sizes the heap of a process by the memory limit of its container or unit, which is the same for each child. Together they would exceed it, and
 * the kernel would kill where V8 can still collect garbage. So each child gets the heap of a process alone with its share of the memory.
 */
export function heapFlags({ limitBytes, totalBytes, processes, given, ownHeapBytes }: HeapNeeds): string[] {
  if (GIVEN.test(given)) return [];
  const bytes = (Math.min(limitBytes ?? Infinity, totalBytes) / processes) * HEAP_PART;
  const heapBytes = Math.max(LEAST_BYTES, bytes);
  return heapBytes < ownHeapBytes ? [`--max-old-space-size=${Math.floor(heapBytes / 2 ** 20)}`] : [];
}
