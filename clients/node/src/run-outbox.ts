import type { QueuedCall } from './call-queue.ts';
import { compress } from './compress.ts';
import type { EncodedCall } from './encode-call.ts';
import { NotSentError } from './errors.ts';
import { keepForNextWindow } from './flush-windows.ts';
import type { Outcome, Problem } from './judge-answer.ts';
import { type Batch, bodyOf, halves, takeBatch } from './make-batch.ts';
import { admit, isFull, type Outbox, QUEUE_FULL, settle } from './outbox.ts';
import { sendBody } from './send-body.ts';

const STORED: Problem = { code: '', message: '' };

/**
 * Sends what is wanted, one batch after the other: so calls arrive in the order they were made. Resolves with whether
 * all of it had its end; if not, it waits in the spool and is tried again later.
 */
export async function runOutbox(box: Outbox): Promise<boolean> {
  for (let batch = nextBatch(box); batch !== undefined; batch = nextBatch(box)) {
    box.flushedAt = box.settings.now();
    const outcome = await send(box, batch);
    if (!conclude(box, batch, outcome)) return false;
  }
  return true;
}

function nextBatch({ sealed, queue, settings, wantedNumber }: Outbox): Batch | undefined {
  const again = sealed.shift();
  if (again !== undefined) return again;
  const isWanted = (queue.peek()?.number ?? Number.POSITIVE_INFINITY) <= wantedNumber;
  // 1 turns batching off; otherwise all that waits goes, which is what lets one request at a time keep up.
  return isWanted ? takeBatch(queue, settings.flushAt === 1 ? 1 : Number.POSITIVE_INFINITY) : undefined;
}

async function send(box: Outbox, batch: Batch): Promise<Outcome> {
  const { post, settings, random, giving, log, spool, inFlight } = box;
  inFlight.add(batch);
  if (spool !== undefined && !isAside(batch)) spool.seal(batch.calls.map((call) => call.number));
  const { text, bytes } = bodyOf(batch);
  const body = settings.gzip ? await compress(text, bytes) : { body: text, isGzip: false };
  log?.('request.sent', { calls: batch.calls.length, bytes, url: settings.url.href });
  return sendBody(body, { post, settings, nowMs: settings.now, random, giving, log });
}

/** Made with `now`: the queue and the spool know nothing of it. */
function isAside({ calls }: Batch): boolean {
  return calls[0]?.number === 0;
}

/** False when there is no point in sending more for now. */
function conclude(box: Outbox, batch: Batch, outcome: Outcome): boolean {
  // Given up meanwhile: its calls have had their end.
  if (!box.inFlight.delete(batch)) return false;
  switch (outcome.kind) {
    case 'sent':
      settleEach(box, batch, { isSent: true, ...outcome, problem: STORED });
      return true;
    case 'failed':
      settleEach(box, batch, { isSent: false, ...outcome });
      return true;
    case 'split':
      if (batch.calls.length > 1) box.sealed.unshift(...halves(batch));
      else settle(box, batch.calls, { fate: 'failed', problem: outcome.problem });
      return true;
    case 'retry':
      if (box.spool === undefined) settle(box, batch.calls, { fate: 'failed', problem: outcome.problem });
      else keep(box, batch, outcome.problem);
      return box.spool === undefined;
  }
}

/** All batches behind this one wait on, too. Waiting flushes are told, and the next flush tries again. */
function keep(box: Outbox, batch: Batch, problem: Problem): void {
  box.log?.('calls.kept', { calls: box.windows.open, ...problem });
  box.sealed.unshift(batch);
  for (const { calls } of box.sealed) for (const call of calls) keepForNextWindow(box.windows, call);
  box.queue.forEach((call) => keepForNextWindow(box.windows, call));
}

type Verdict = { isSent: boolean; problem: Problem; rejected: ReadonlyMap<number, Problem> };

function settleEach(box: Outbox, { calls }: Batch, { isSent, problem, rejected }: Verdict): void {
  const fate = isSent ? 'sent' : 'failed';
  if (rejected.size === 0) return settle(box, calls, { fate, problem });
  const others = calls.filter((_, index) => !rejected.has(index));
  if (others.length > 0) settle(box, others, { fate, problem });
  for (const [code, group] of groupByCode(calls, rejected)) {
    settle(box, group.calls, { fate: 'failed', problem: { code, message: group.message } });
  }
}

function groupByCode(calls: readonly QueuedCall[], rejected: ReadonlyMap<number, Problem>) {
  const groups = new Map<string, { message: string; calls: QueuedCall[] }>();
  for (const [index, { code, message }] of rejected) {
    const call = calls[index];
    if (call === undefined) continue;
    const group = groups.get(code) ?? { message, calls: [] };
    group.calls.push(call);
    groups.set(code, group);
  }
  return groups;
}

/** Beside the queue and without waiting: for a process that may be frozen after the next line. */
export async function sendNow(box: Outbox, call: EncodedCall): Promise<void> {
  if (isFull(box, call.bytes)) {
    settle(box, [admit(box, call, 0)], { fate: 'dropped', problem: QUEUE_FULL });
    throw new NotSentError(QUEUE_FULL.code, QUEUE_FULL.message);
  }
  const batch: Batch = { calls: [admit(box, call, 0)] };
  const outcome = await send(box, batch);
  const isOurs = box.inFlight.delete(batch);
  const problem = problemOf(outcome);
  if (isOurs)
    settle(box, batch.calls, problem === undefined ? { fate: 'sent', problem: STORED } : { fate: 'failed', problem });
  if (problem !== undefined) throw new NotSentError(problem.code, problem.message);
}

/** Why the only call of a batch was not stored. */
function problemOf(outcome: Outcome): Problem | undefined {
  if (outcome.kind === 'sent') return outcome.rejected.get(0);
  return outcome.kind === 'failed' ? (outcome.rejected.get(0) ?? outcome.problem) : outcome.problem;
}
