import type { FlushWindow } from './flush-windows.ts';

/** A call on its way: its text, and the flush that waits for it. */
export type QueuedCall = {
  readonly text: string;
  readonly bytes: number;
  /** Counted from 1 in the order the calls were made; the spool knows calls by it. */
  readonly number: number;
  /** The flush that will count this call. */
  window: FlushWindow;
};

/** First in, first out; taking from the front costs the same however long it is. */
export type CallQueue = {
  readonly length: number;
  readonly bytes: number;
  push(call: QueuedCall): void;
  peek(): QueuedCall | undefined;
  shift(): QueuedCall | undefined;
  forEach(act: (call: QueuedCall) => void): void;
};

const COMPACT_AT = 1_024;

export function makeCallQueue(): CallQueue {
  let calls: (QueuedCall | undefined)[] = [];
  let head = 0;
  let bytes = 0;
  return {
    get length() {
      return calls.length - head;
    },
    get bytes() {
      return bytes;
    },
    push(call) {
      calls.push(call);
      bytes += call.bytes;
    },
    peek: () => calls[head],
    forEach(act) {
      for (let at = head; at < calls.length; at += 1) {
        const call = calls[at];
        if (call !== undefined) act(call);
      }
    },
    shift() {
      const call = calls[head];
      if (call === undefined) return undefined;
      calls[head] = undefined;
      head += 1;
      bytes -= call.bytes;
      if (head === calls.length) {
        calls = [];
        head = 0;
      } else if (head >= COMPACT_AT && head * 2 >= calls.length) {
        calls = calls.slice(head);
        head = 0;
      }
      return call;
    },
  };
}
