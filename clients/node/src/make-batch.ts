import { MAX_BATCH_BYTES, MAX_CALLS } from '../../../contract/src/limits.ts';
import type { CallQueue, QueuedCall } from './call-queue.ts';

const START = '{"batch":[';
const END = ']}';

/** Calls that go in one request, and go together again whenever it is sent again. */
export type Batch = { readonly calls: readonly QueuedCall[] };

/** Takes what waits, as much as one request may hold. */
export function takeBatch(queue: CallQueue, maxCalls: number): Batch | undefined {
  const calls: QueuedCall[] = [];
  const most = Math.min(maxCalls, MAX_CALLS);
  let bytes = START.length + END.length;
  for (let next = queue.peek(); next !== undefined && calls.length < most; next = queue.peek()) {
    const comma = calls.length === 0 ? 0 : 1;
    if (bytes + comma + next.bytes > MAX_BATCH_BYTES) break;
    bytes += comma + next.bytes;
    calls.push(next);
    queue.shift();
  }
  return calls.length === 0 ? undefined : { calls };
}

export function bodyOf({ calls }: Batch): { text: string; bytes: number } {
  let text = START;
  let bytes = START.length + END.length + calls.length - 1;
  for (const [index, call] of calls.entries()) {
    text += index === 0 ? call.text : `,${call.text}`;
    bytes += call.bytes;
  }
  return { text: text + END, bytes };
}

/** Two requests where one was too large for someone on the way. */
export function halves({ calls }: Batch): Batch[] {
  const middle = Math.ceil(calls.length / 2);
  return [{ calls: calls.slice(0, middle) }, { calls: calls.slice(middle) }];
}
