import type { VirtualProcess } from './virtual-clock.ts';

export type QueuedEvent = {
  at: number;
  /** Of two events with the same time, the one added first runs first. */
  order: number;
  owner: VirtualProcess;
  run: () => void;
  isCancelled: boolean;
};

export type EventQueue = {
  add(event: Pick<QueuedEvent, 'at' | 'owner' | 'run'>): QueuedEvent;
  /** Puts an event back, for another time. */
  putBack(event: QueuedEvent, at: number): void;
  /** Takes the first event out, if it is due by then. */
  next(by: number): QueuedEvent | undefined;
};

/** A binary heap. Cancelled events leave it when their turn comes. */
export function openEventQueue(): EventQueue {
  const heap: QueuedEvent[] = [];
  let added = 0;

  function put(event: QueuedEvent): void {
    added += 1;
    event.order = added;
    heap.push(event);
    rise(heap, heap.length - 1);
  }

  return {
    add({ at, owner, run }) {
      const event = { at, order: 0, owner, run, isCancelled: false };
      put(event);
      return event;
    },
    putBack(event, at) {
      event.at = at;
      put(event);
    },
    next(by) {
      for (let first = heap[0]; first !== undefined && first.at <= by; first = heap[0]) {
        takeFirst(heap);
        if (!first.isCancelled) return first;
      }
      return undefined;
    },
  };
}

function isBefore(one: QueuedEvent | undefined, other: QueuedEvent | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined;
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}

function swap(heap: QueuedEvent[], one: number, other: number): void {
  const [first, second] = [heap[one], heap[other]];
  if (first === undefined || second === undefined) return;
  heap[one] = second;
  heap[other] = first;
}

function rise(heap: QueuedEvent[], from: number): void {
  for (let index = from; index > 0; ) {
    const parent = (index - 1) >> 1;
    if (!isBefore(heap[index], heap[parent])) return;
    swap(heap, index, parent);
    index = parent;
  }
}

function takeFirst(heap: QueuedEvent[]): void {
  const last = heap.pop();
  if (heap.length === 0 || last === undefined) return;
  heap[0] = last;
  for (let index = 0; ; ) {
    const left = index * 2 + 1;
    const child = isBefore(heap[left], heap[left + 1]) ? left : left + 1;
    if (!isBefore(heap[child], heap[index])) return;
    swap(heap, index, child);
    index = child;
  }
}
