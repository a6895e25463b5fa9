import type { EncodedCall } from './encode-call.ts';
import type { Counts } from './counts.ts';
import { endWindow } from './flush-windows.ts';
import { giveUpAll } from './giving-up.ts';
import type { Problem } from './judge-answer.ts';
import { admit, isFull, type Outbox, QUEUE_FULL, settle } from './outbox.ts';
import { runOutbox } from './run-outbox.ts';
import { unref } from './unref.ts';

/** Puts the call behind the others. Nothing is sent in the caller's time. */
export function addCall(box: Outbox, call: EncodedCall): void {
  if (isFull(box, call.bytes) && !makeRoom(box, call.bytes)) {
    // It never had a number, so the spool knows nothing of it.
    settle(box, [admit(box, call, 0)], { fate: 'dropped', problem: QUEUE_FULL });
    return;
  }
  box.lastNumber += 1;
  box.queue.push(admit(box, call, box.lastNumber));
  box.spool?.append(box.lastNumber, call.text);
  if (box.queue.length >= box.settings.flushAt) startSending(box);
  else armTimer(box);
}

/** Drops the oldest calls where that is wanted; those on their way cannot be called back. */
function makeRoom(box: Outbox, bytes: number): boolean {
  if (box.settings.whenFull === 'dropNewest' || bytes > box.settings.maxQueueBytes) return false;
  while (isFull(box, bytes)) {
    const oldest = box.queue.shift();
    if (oldest === undefined) return false;
    settle(box, [oldest], { fate: 'dropped', problem: QUEUE_FULL });
  }
  return true;
}

/** Sends what waits now, and resolves when everything added before has its end. */
export function flushOutbox(box: Outbox): Promise<Counts> {
  if (box.windows.open > 0) startSending(box);
  return endWindow(box.windows);
}

/** Ends all that is open without waiting for anyone: with a spool it is kept, else dropped. */
export function giveUp(box: Outbox, problem: Problem): void {
  clearTimeout(box.timer);
  const { inFlight, sealed, queue, spool } = box;
  const batches = [...inFlight, ...sealed];
  inFlight.clear();
  box.sealed = [];
  giveUpAll(box.giving);
  const calls = batches.flatMap((batch) => batch.calls);
  for (let call = queue.shift(); call !== undefined; call = queue.shift()) calls.push(call);
  const isKept = (number: number) => spool !== undefined && number > 0;
  const kept = calls.filter(({ number }) => isKept(number));
  const lost = calls.filter(({ number }) => !isKept(number));
  if (kept.length > 0) settle(box, kept, { fate: 'kept', problem });
  if (lost.length > 0) settle(box, lost, { fate: 'dropped', problem });
}

/** Everything that waits now is to be sent. */
export function startSending(box: Outbox): void {
  box.wantedNumber = box.lastNumber;
  if (box.isRunning) return;
  box.isRunning = true;
  clearTimeout(box.timer);
  box.timer = undefined;
  soon(() => {
    void runOutbox(box).then((isDone) => {
      box.isRunning = false;
      if (box.queue.length === 0 && box.sealed.length === 0) return;
      // Calls may have come, and a flush with them, in the very moment it ended.
      const isWanted = box.wantedNumber >= (box.queue.peek()?.number ?? Number.POSITIVE_INFINITY);
      if (isDone && isWanted) startSending(box);
      else armTimer(box);
    });
  });
}

/** After the caller's own work, so that calls made together go together. */
function soon(act: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(act);
  else setTimeout(act, 0);
}

/** At `flushAfter` since the last flush; where that is over, the call at hand waits so long at most. */
function armTimer(box: Outbox): void {
  if (box.timer !== undefined || box.isRunning) return;
  const { flushAfter, now } = box.settings;
  const sinceFlush = now() - box.flushedAt;
  const delay = sinceFlush >= 0 && sinceFlush < flushAfter ? flushAfter - sinceFlush : flushAfter;
  box.timer = setTimeout(() => {
    box.timer = undefined;
    startSending(box);
  }, delay);
  unref(box.timer);
}
