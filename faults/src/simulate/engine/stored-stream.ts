/** The messages of a stream, as its leader has applied them. The store has no clock of its own: times are arguments. */
import type { StreamPlan } from '../../../../server/src/stream/layout/layout.ts';
import { type HeaderPair, headerOf, matches, type WireMessage } from './wire.ts';

export type StoredMessage = {
  seq: number;
  subject: string;
  headers: readonly HeaderPair[];
  data: Uint8Array;
  /** By the clock of the leader that stored it, in milliseconds since 1970. */
  at: number;
  /** In virtual time. */
  storedAt: number;
};

/** `now` is virtual time, `stamp` the time of the leader's clock. */
export type Moment = { now: number; stamp: number };

export type Appended =
  | { kind: 'stored'; message: StoredMessage }
  | { kind: 'duplicate'; seq: number }
  | { kind: 'error'; code: number; description: string };

export type StreamState = {
  messages: number;
  bytes: number;
  firstSeq: number;
  lastSeq: number;
  firstAt: number;
  lastAt: number;
};

export type StoredStream = {
  name: string;
  plan: StreamPlan;
  state(): StreamState;
  append(message: WireMessage, moment: Moment): Appended;
  get(seq: number): StoredMessage | undefined;
  remove(seq: number, now: number): boolean;
  /** Removes messages of the subjects below a sequence, or all of them; returns how many. */
  purge(purged: { filter?: string; seq?: number }, now: number): number;
  lastOf(pattern: string): StoredMessage | undefined;
  nextOf(pattern: string, from: number): StoredMessage | undefined;
  /** How many messages each subject has. */
  subjects(pattern: string): Map<string, number>;
  /** The next messages of a subject as a replica sees them that is behind by this time. */
  readBehind(read: { pattern: string; from: number; most: number; behindMs: number }, now: number): StoredMessage[];
};

/** NATS takes two minutes where a stream does not say its own. */
const DEFAULT_WINDOW_NS = 120e9;
/** Removed messages are remembered for replicas that are behind. */
const BEHIND_MOST_MS = 10_000;
const OVERHEAD_BYTES = 64;

const sizeOf = ({ subject, data }: StoredMessage) => subject.length + data.length + OVERHEAD_BYTES;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openStoredStream(plan: StreamPlan): StoredStream {
  const messages = new Map<number, StoredMessage>();
  const bySubject = new Map<string, number[]>();
  const ids = new Map<string, { seq: number; at: number }>();
  let removed: { message: StoredMessage; at: number }[] = [];
  let lastSeq = 0;
  let lastAt = 0;
  let bytes = 0;
  const windowMs = (plan.duplicate_window ?? DEFAULT_WINDOW_NS) / 1e6;
  const lastIn = (subject: string) => bySubject.get(subject)?.at(-1) ?? 0;

  /** The checks in the order of the server: duplicates before expectations before limits. */
  function problemOf(message: WireMessage, now: number): Appended | undefined {
    const id = headerOf(message, 'Nats-Msg-Id');
    const known = id === undefined ? undefined : ids.get(id);
    if (known !== undefined && now - known.at < windowMs) return { kind: 'duplicate', seq: known.seq };
    const expected = headerOf(message, 'Nats-Expected-Last-Subject-Sequence');
    const last = lastIn(message.subject);
    // Engine fact: error 10071, and nothing is stored.
    if (expected !== undefined && Number(expected) !== last)
      return { kind: 'error', code: 10_071, description: `wrong last sequence: ${last}` };
    // Engine fact: `discard: new` refuses with 10077 instead of dropping the oldest.
    if (plan.discard === 'new' && plan.max_bytes > 0 && bytes + message.data.length > plan.max_bytes)
      return { kind: 'error', code: 10_077, description: 'maximum bytes exceeded' };
    return undefined;
  }

  function remove(seq: number, now: number): boolean {
    const message = messages.get(seq);
    if (message === undefined) return false;
    messages.delete(seq);
    bytes -= sizeOf(message);
    const left = (bySubject.get(message.subject) ?? []).filter((each) => each !== seq);
    if (left.length === 0) bySubject.delete(message.subject);
    else bySubject.set(message.subject, left);
    removed = [...removed.filter(({ at }) => now - at < BEHIND_MOST_MS), { message, at: now }];
    return true;
  }

  function subjectsOf(pattern: string): string[] {
    if (bySubject.has(pattern)) return [pattern];
    return [...bySubject.keys()].filter((subject) => matches(pattern, subject));
  }

  function nextOf(pattern: string, from: number): StoredMessage | undefined {
    const firsts = subjectsOf(pattern).map((subject) => bySubject.get(subject)?.find((seq) => seq >= from) ?? Infinity);
    return messages.get(Math.min(Infinity, ...firsts));
  }

  return {
    name: plan.name,
    plan,
    state() {
      const [first] = messages.values();
      const firstAt = first?.at ?? 0;
      return { messages: messages.size, bytes, firstSeq: first?.seq ?? lastSeq + 1, lastSeq, firstAt, lastAt };
    },
    append(message, { now, stamp }) {
      const problem = problemOf(message, now);
      if (problem !== undefined) return problem;
      lastSeq += 1;
      lastAt = stamp;
      const { subject, headers = [], data } = message;
      const stored = { seq: lastSeq, subject, headers, data, at: stamp, storedAt: now };
      messages.set(lastSeq, stored);
      bytes += sizeOf(stored);
      const own = bySubject.get(subject) ?? [];
      own.push(lastSeq);
      bySubject.set(subject, own);
      const id = headerOf(message, 'Nats-Msg-Id');
      if (id !== undefined) ids.set(id, { seq: lastSeq, at: now });
      // Engine fact: a newer message displaces the older one where a subject may have one only.
      const most = plan.max_msgs_per_subject ?? 0;
      if (plan.discard !== 'new' && most > 0) for (const seq of own.slice(0, -most)) remove(seq, now);
      return { kind: 'stored', message: stored };
    },
    get: (seq) => messages.get(seq),
    remove,
    purge({ filter = '>', seq: below = Infinity }, now) {
      const gone = subjectsOf(filter).flatMap((subject) => (bySubject.get(subject) ?? []).filter((seq) => seq < below));
      for (const seq of gone) remove(seq, now);
      return gone.length;
    },
    lastOf: (pattern) => messages.get(Math.max(0, ...subjectsOf(pattern).map(lastIn))),
    nextOf,
    subjects: (pattern) =>
      new Map(subjectsOf(pattern).map((subject) => [subject, bySubject.get(subject)?.length ?? 0])),
    readBehind({ pattern, from, most, behindMs }, now) {
      const isSeen = ({ seq, subject }: StoredMessage) => seq >= from && matches(pattern, subject);
      const stored = subjectsOf(pattern)
        .flatMap((subject) => bySubject.get(subject) ?? [])
        .flatMap((seq) => messages.get(seq) ?? [])
        .filter((message) => isSeen(message) && message.storedAt <= now - behindMs);
      const gone = removed.filter(({ at, message }) => at > now - behindMs && message.storedAt <= now - behindMs);
      const all = [...stored, ...gone.map(({ message }) => message).filter(isSeen)];
      return all.sort((one, other) => one.seq - other.seq).slice(0, most);
    },
  };
}
