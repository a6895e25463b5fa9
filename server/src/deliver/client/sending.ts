import { type ErrorClass, sentence } from './error-classes.ts';
import type { Answer, Timings } from './post.ts';
import type { Sending } from './model.ts';

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
    isClosing: false,
    body: undefined,
    bytes: 0,
  };
}

/**
 * Keeps a piece of the response's body; false when there is enough of it. A piece is a view of all that was read with it, so
 * pieces are copied together: a receiver that sends bytes one by one would have each of them kept with its 64 KiB.
 */
export function keepChunk(sending: Sending, chunk: Buffer): boolean {
  const { bytes, body } = sending;
  sending.bytes += chunk.length;
  if (body === undefined) {
    sending.body = chunk;
    return chunk.length <= KEPT_BODY_BYTES;
  }
  const whole = body.length === KEPT_BODY_BYTES ? body : roomFor(body);
  chunk.copy(whole, bytes);
  sending.body = whole;
  return sending.bytes <= KEPT_BODY_BYTES;
}

function roomFor(first: Buffer): Buffer {
  const whole = Buffer.allocUnsafeSlow(KEPT_BODY_BYTES);
  first.copy(whole);
  return whole;
}

export function statusAnswer(sending: Sending, now: number): Answer {
  const { status, retryAfter } = sending;
  const answer: Answer = { kind: 'status', status, body: bodyText(sending), timings: timingsOf(sending, now) };
  if (sending.address !== undefined) answer.address = sending.address;
  if (retryAfter !== undefined) answer.retryAfter = retryAfter;
  if (sending.isClosing) answer.isClosing = true;
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

function bodyText({ body, bytes }: Sending): string {
  return body === undefined ? '' : body.toString('utf8', 0, Math.min(bytes, KEPT_BODY_BYTES));
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
