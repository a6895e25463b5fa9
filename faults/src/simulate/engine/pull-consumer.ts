/**
 * A durable consumer with explicit acknowledgements, as its leader keeps it. A message is new, pending (a client has it, until its
 * deadline), due again (its deadline passed, or the client gave it back), or done. Facts: server tests `engine-facts`.
 */
import type { ConsumerPlan } from '../../../../server/src/stream/layout/layout.ts';
import { matches, statusMessage, type WireMessage } from './wire.ts';
import type { StoredMessage, StoredStream } from './stored-stream.ts';

/** A request for messages that waits at the server. */
type Waiting = { reply: string; left: number; expiresAt: number; to(message: WireMessage): void };
type Pending = { count: number; deadline: number; deliveredAt: number };

export type PullConsumer = {
  name: string;
  stream: string;
  /** Everything up to here is done. */
  ackFloor(): number;
  ackPending(): number;
  ask(waiting: Waiting): void;
  /** `+ACK`, `-NAK`, `+WPI` for a sequence. */
  answer(seq: number, payload: string): void;
  /** Gives out what can be given out. */
  pump(): void;
  /** The next time at which something is due. */
  dueAt(): number;
  /** Its leader's copy of the stream stands still, or has caught up. */
  setBehind(isBehind: boolean): void;
  /** Another leader takes over: waiting requests are gone, and the last steps may be lost. */
  moveLeader(): void;
};

export type PullNeeds = {
  plan: ConsumerPlan;
  stream: StoredStream;
  now(): number;
  /** The consumer has a leader now. */
  isLed(): boolean;
  /** From 0 to 1. */
  dice(): number;
  /** A message is done; a work queue drops it. */
  done(seq: number): void;
};

const NANOS = 1e6;
/** State that a leader had not replicated when it died: steps younger than this may be lost. */
const UNREPLICATED_MS = 30;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openPullConsumer({ plan, stream, now, isLed, dice, done }: PullNeeds): PullConsumer {
  const {
    durable_name: name,
    filter_subject: filter = '>',
    ack_wait: ackWait = 0,
    max_ack_pending: most = 1_000,
  } = plan.config;
  const ackWaitMs = ackWait / NANOS;
  const pending = new Map<number, Pending>();
  const again: number[] = [];
  let waiting: Waiting[] = [];
  let next = 1;
  /** The last message that the leader's copy has. */
  let copied = Infinity;
  let delivered = 0;
  let recentAcks: { seq: number; at: number }[] = [];

  /** Messages that come again go first. A message that was removed meanwhile is forgotten. */
  function take(): StoredMessage | undefined {
    for (let seq = again.shift(); seq !== undefined; seq = again.shift()) {
      const message = stream.get(seq);
      if (message !== undefined && pending.has(seq)) return message;
      pending.delete(seq);
    }
    // Engine fact: as many as may be pending keep the consumer from giving out others.
    if (pending.size >= most) return undefined;
    for (const last = Math.min(stream.state().lastSeq, copied); next <= last; ) {
      const message = stream.get(next);
      next += 1;
      if (message !== undefined && matches(filter, message.subject) && !pending.has(message.seq)) return message;
    }
    return undefined;
  }

  function give(message: StoredMessage, to: Waiting): void {
    const { seq, subject, headers, data, at } = message;
    const count = (pending.get(seq)?.count ?? 0) + 1;
    delivered += 1;
    pending.set(seq, { count, deadline: now() + ackWaitMs, deliveredAt: now() });
    const reply = `$JS.ACK.${stream.name}.${name}.${count}.${seq}.${delivered}.${Math.round(at)}000000.0`;
    to.left -= 1;
    to.to({ subject, reply, headers, data });
  }

  function letGo(): void {
    for (const [seq, { deadline }] of pending) if (deadline <= now() && !again.includes(seq)) again.push(seq);
    for (const each of waiting.filter(({ expiresAt }) => expiresAt <= now()))
      each.to(statusMessage(each.reply, { code: 408, description: 'Request Timeout' }));
    waiting = waiting.filter(({ expiresAt, left }) => expiresAt > now() && left > 0);
  }

  function pump(): void {
    if (!isLed()) return;
    letGo();
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const message = take();
      if (message === undefined) return;
      give(message, first);
      if (first.left <= 0) waiting.shift();
      // Requests of several clients take turns.
      else if (waiting.length > 1) waiting.push(...waiting.splice(0, 1));
    }
  }

  return {
    name,
    stream: stream.name,
    ackFloor: () => Math.min(next, ...pending.keys()) - 1,
    ackPending: () => pending.size,
    ask(request) {
      waiting.push(request);
      pump();
    },
    answer(seq, payload) {
      const known = pending.get(seq);
      if (known === undefined) return;
      if (payload === '+ACK') {
        pending.delete(seq);
        recentAcks = [...recentAcks.filter(({ at }) => now() - at < UNREPLICATED_MS), { seq, at: now() }];
        done(seq);
      } else if (payload === '+WPI') known.deadline = now() + ackWaitMs;
      else known.deadline = now() + delayOf(payload);
      pump();
    },
    pump,
    dueAt: () =>
      Math.min(
        Infinity,
        ...waiting.map(({ expiresAt }) => expiresAt),
        ...pending.values().map(({ deadline }) => (deadline > now() ? deadline : Infinity)),
      ),
    setBehind(isBehind) {
      copied = isBehind ? stream.state().lastSeq : Infinity;
      pump();
    },
    moveLeader() {
      waiting = [];
      for (const { seq, at } of recentAcks)
        if (now() - at < UNREPLICATED_MS && stream.get(seq) !== undefined && dice() < 0.5)
          pending.set(seq, { count: 1, deadline: now() + ackWaitMs, deliveredAt: at });
      // The new leader counts the time anew.
      for (const each of pending.values()) each.deadline = now() + ackWaitMs * dice();
    },
  };
}

function delayOf(nak: string): number {
  const options = nak.slice('-NAK'.length).trim();
  return options === '' ? 0 : ((JSON.parse(options) as { delay?: number }).delay ?? 0) / NANOS;
}
