import type { CallEvents } from './call-events.ts';
import { type CallQueue, makeCallQueue, type QueuedCall } from './call-queue.ts';
import type { DebugLog } from './debug-log.ts';
import type { EncodedCall } from './encode-call.ts';
import { enterWindow, type Fate, type FlushWindows, makeFlushWindows, settleInWindow } from './flush-windows.ts';
import { type GivingUp, makeGivingUp } from './giving-up.ts';
import type { Problem } from './judge-answer.ts';
import type { Batch } from './make-batch.ts';
import type { Settings } from './read-options.ts';
import type { Post } from './post.ts';
import type { Spool } from './spool.ts';
import { utf8Bytes } from './utf8-bytes.ts';

export type OutboxNeeds = {
  settings: Settings;
  post: Post;
  events: CallEvents;
  spool: Spool | undefined;
  log: DebugLog | undefined;
  random(): number;
};

/** Where calls wait, and what is known of those on their way. Each gets one end: sent, failed or dropped. */
export type Outbox = OutboxNeeds & {
  queue: CallQueue;
  windows: FlushWindows;
  /** Batches that were sent before without an end; they go first, and as they were. */
  sealed: Batch[];
  inFlight: Set<Batch>;
  openBytes: number;
  lastNumber: number;
  /** Calls up to this number are to be sent without further waiting. */
  wantedNumber: number;
  isRunning: boolean;
  flushedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Over when what is open is given up. */
  giving: GivingUp;
};

export const QUEUE_FULL: Problem = {
  code: 'queue_full',
  message: 'More calls wait than maxQueueCalls or maxQueueBytes allow.',
};

/** With what the spool has kept of an earlier process at the front. */
export function openOutbox(needs: OutboxNeeds): Outbox {
  const box: Outbox = {
    ...needs,
    queue: makeCallQueue(),
    windows: makeFlushWindows(),
    sealed: [],
    inFlight: new Set(),
    openBytes: 0,
    lastNumber: needs.spool?.recovered.lastNumber ?? 0,
    wantedNumber: 0,
    isRunning: false,
    flushedAt: Number.NEGATIVE_INFINITY,
    timer: undefined,
    giving: makeGivingUp(),
  };
  const { batches = [], calls = [] } = needs.spool?.recovered ?? {};
  const enter = ({ text, number }: { text: string; number: number }) =>
    admit(box, { text, bytes: utf8Bytes(text) }, number);
  for (const batch of batches) box.sealed.push({ calls: batch.map(enter) });
  for (const call of calls) box.queue.push(enter(call));
  return box;
}

/** From here on the call counts, and has to get its end. */
export function admit(box: Outbox, { text, bytes }: EncodedCall, number: number): QueuedCall {
  box.openBytes += bytes;
  return { text, bytes, number, window: enterWindow(box.windows) };
}

export function isFull({ settings, windows, openBytes }: Outbox, bytes: number): boolean {
  return windows.open >= settings.maxQueueCalls || openBytes + bytes > settings.maxQueueBytes;
}

/** The end of these calls. Listeners hear of it before a flush that waits for them is over. */
export function settle(box: Outbox, calls: readonly QueuedCall[], end: { fate: Fate; problem: Problem }): void {
  const { fate, problem } = end;
  box.log?.(`calls.${fate}`, { calls: calls.length, ...problem });
  for (const call of calls) box.openBytes -= call.bytes;
  if (fate !== 'kept') {
    settleSpooled(box, calls);
    box.events.tell(fate, problem, calls);
  }
  for (const call of calls) settleInWindow(box.windows, call.window, fate);
}

function settleSpooled({ spool }: Outbox, calls: readonly QueuedCall[]): void {
  const first = calls[0]?.number ?? 0;
  if (spool !== undefined && first > 0) spool.settle(calls.map((call) => call.number));
}
