import type { Connection } from './connection.ts';
import type { Dial, DialTimings } from './dial.ts';
import { type ErrorClass, sentence } from './error-classes.ts';
import type { Answer, Post, Timings } from './open-client.ts';
import type { Pool } from './pools.ts';
import type { Target } from './read-target.ts';

/** One POST from its call to its answer. A plain record with every field from the start: there are thousands of them a second. */
export type Sending = {
  post: Post;
  target: Target;
  pool: Pool;
  startedAt: number;
  resolve: (answer: Answer) => void;
  /** Its neighbours in `deadlines.ts`. */
  earlier: Sending | undefined;
  later: Sending | undefined;
  stage: 'waiting' | 'dialing' | 'sent' | 'settled';
  hasRetried: boolean;
  dial: Dial | undefined;
  connection: Connection | undefined;
  /** Only when this POST opened its connection. */
  dialed: DialTimings | undefined;
  address: string | undefined;
  /** 0 until there is one. */
  firstByteAt: number;
  /** 0 until the head of the response is complete. */
  status: number;
  retryAfter: string | undefined;
  chunks: Buffer[] | undefined;
  bytes: number;
};

export const KEPT_BODY_BYTES = 16_384;

export type Start = Pick<Sending, 'post' | 'target' | 'pool' | 'startedAt' | 'resolve'>;

export function newSending({ post, target, pool, startedAt, resolve }: Start): Sending {
  return {
    post,
    target,
    pool,
    startedAt,
    resolve,
    earlier: undefined,
    later: undefined,
    stage: 'waiting',
    hasRetried: false,
    dial: undefined,
    connection: undefined,
    dialed: undefined,
    address: undefined,
    firstByteAt: 0,
    status: 0,
    retryAfter: undefined,
    chunks: undefined,
    bytes: 0,
  };
}

/** Keeps a piece of the response's body; false when there is enough of it. */
export function keepChunk(sending: Sending, chunk: Buffer): boolean {
  if (sending.chunks === undefined) sending.chunks = [chunk];
  else sending.chunks.push(chunk);
  sending.bytes += chunk.length;
  return sending.bytes <= KEPT_BODY_BYTES;
}

export function statusAnswer(sending: Sending, now: number): Answer {
  const { status, retryAfter } = sending;
  const answer: Answer = { kind: 'status', status, body: bodyText(sending), timings: timingsOf(sending, now) };
  if (sending.address !== undefined) answer.address = sending.address;
  if (retryAfter !== undefined) answer.retryAfter = retryAfter;
  return answer;
}

export type Failure = { errorClass: ErrorClass; detail: string };

export function errorAnswer(sending: Sending, failure: Failure, now: number): Answer {
  const { host, port } = sending.target;
  const message = sentence(failure.errorClass, { ...failure, host, port });
  const answer: Answer = { kind: 'error', errorClass: failure.errorClass, message, timings: timingsOf(sending, now) };
  if (sending.address !== undefined) answer.address = sending.address;
  return answer;
}

function bodyText({ chunks, bytes }: Sending): string {
  const [first] = chunks ?? [];
  if (chunks === undefined || first === undefined) return '';
  const whole = chunks.length === 1 ? first : Buffer.concat(chunks, Math.min(bytes, KEPT_BODY_BYTES));
  return whole.toString('utf8', 0, KEPT_BODY_BYTES);
}

function timingsOf({ startedAt, firstByteAt, dialed }: Sending, now: number): Timings {
  const timings: Timings = { totalMs: roundMs(now - startedAt) };
  if (firstByteAt !== 0) timings.firstByteMs = roundMs(firstByteAt - startedAt);
  if (dialed === undefined) return timings;
  const { dnsMs, connectMs, tlsMs } = dialed;
  if (dnsMs !== undefined) timings.dnsMs = roundMs(dnsMs);
  if (connectMs !== undefined) timings.connectMs = roundMs(connectMs);
  if (tlsMs !== undefined) timings.tlsMs = roundMs(tlsMs);
  return timings;
}

/** To the microsecond: the digits behind it would be a tenth of all that the record keeps of an attempt. */
function roundMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
