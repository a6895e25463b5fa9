/**
 * Sends events on, one after another in the order in which they came. An event waits, it is sent, and then it is gone whatever the
 * receiver answered; only while nothing listens at the receiver's address does the queue hold, because a developer's program is
 * restarted all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcceptedEvent } from '@millrace/contract';
import type { Forwarded, Forwarder } from '@millrace/server/forward';
import type { NewEntry } from './entry.ts';

export type ForwardQueue = AsyncDisposable & {
  hasRoom(events: number): boolean;
  /** `of`: the id of the entry that the event belongs to. */
  add(event: AcceptedEvent, of: number): void;
  /** Sends an event once more, past the queue. */
  resend(event: AcceptedEvent, of: number): Promise<Forwarded>;
  /** Resolves when fewer events wait than this. */
  below(events: number): Promise<void>;
};

export type ForwardQueueNeeds = { forwarder: Forwarder; show(entry: NewEntry): void };

export const MAX_WAITING = 5_000;
const MAX_REMEMBERED = 5_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
/** Nothing was sent, and nothing listens there: the receiver is being started. */
const AWAY = new Set(['connection_refused', 'dns_not_found', 'dns_failed', 'dns_timeout']);

type Waiting = { event: AcceptedEvent; of: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openForwardQueue({ forwarder, show }: ForwardQueueNeeds): ForwardQueue {
  const waiting: Waiting[] = [];
  const attempts = new Map<number, number>();
  const life = new AbortController();
  const readers: { most: number; resolve(): void }[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (let next = waiting[0]; next !== undefined && !life.signal.aborted; next = waiting[0]) {
      await send(next);
      waiting.shift();
      for (const reader of readers.splice(0)) {
        if (waiting.length < reader.most) reader.resolve();
        else readers.push(reader);
      }
    }
    running = undefined;
  }

  async function send({ event, of }: Waiting): Promise<void> {
    const reason = forwarder.skipReason(event);
    if (reason !== undefined) return show({ kind: 'skipped', of, event, reason });
    let isAway = false;
    for (let waitMs = FIRST_WAIT_MS; !life.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const forwarded = await attempt(event, of);
      const { answer } = forwarded;
      if (answer.kind === 'status' || !AWAY.has(answer.errorClass)) {
        if (isAway) show({ kind: 'note', isProblem: false, text: 'The receiver is back.' });
        return show({ kind: 'forwarded', of, event, ...forwarded });
      }
      if (!isAway)
        show({ kind: 'note', isProblem: true, text: `${answer.message} Events wait for it, in their order.` });
      isAway = true;
      attempts.delete(of);
      await sleep(waitMs, undefined, { signal: life.signal }).catch(() => undefined);
    }
  }

  async function attempt(event: AcceptedEvent, of: number): Promise<Forwarded> {
    const before = attempts.get(of) ?? 0;
    const [oldest] = attempts.size >= MAX_REMEMBERED ? attempts.keys() : [];
    if (oldest !== undefined) attempts.delete(oldest);
    attempts.set(of, before + 1);
    return forwarder.forward(event, before);
  }

  return {
    hasRoom: (events) => waiting.length + events <= MAX_WAITING,
    add(event, of) {
      waiting.push({ event, of });
      running ??= run();
    },
    async resend(event, of) {
      const forwarded = await attempt(event, of);
      show({ kind: 'forwarded', of, event, ...forwarded });
      return forwarded;
    },
    async below(events) {
      if (waiting.length >= events && !life.signal.aborted) {
        await new Promise<void>((resolve) => readers.push({ most: events, resolve }));
      }
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      for (const { resolve } of readers.splice(0)) resolve();
      await forwarder[Symbol.asyncDispose]();
      await running;
    },
  };
}
