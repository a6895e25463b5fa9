import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readMark } from './marked-call.ts';

/** One POST as a receiver saw it. */
export type Arrival = {
  destinationId: string;
  messageId: string;
  sourceId: string;
  webhookId: string;
  attempt: number;
  /** The receiver's answer; 0 when it never answered. */
  status: number;
  at: number;
  /** POSTs of the same destination that were not answered yet when it came. */
  beside?: number;
  /** The part of it that failed the check. */
  problem?: 'signature' | 'body' | undefined;
};

export type Posted = { destinationId: string; headers: IncomingHttpHeaders; body: string };

type Read = Omit<Arrival, 'at' | 'status' | 'beside'>;

/** The events of a POST, which may be a batch: each as if it had come alone. */
export function readArrivals(posted: Posted, secret: string): Read[] {
  const { headers, body } = posted;
  if (!body.startsWith('{"version":1,"type":"batch"')) return [readArrival(posted, secret)];
  const isWhole = JSON.stringify(JSON.parse(body)) === body;
  const problem = isSigned(headers, body, secret) ? (isWhole ? undefined : 'body') : 'signature';
  const { events }: Batch = JSON.parse(body);
  return events.map(({ id, attempt, body: event }) => {
    const mark = readMark(JSON.stringify(event));
    const { messageId = '', sourceId = '' } = mark ?? {};
    const own = problem ?? (mark === undefined ? 'body' : undefined);
    return { destinationId: posted.destinationId, messageId, sourceId, webhookId: id, attempt, problem: own };
  });
}

type Batch = { events: { id: string; attempt: number; body: object }[] };

/** Reads a POST as a wary customer would: with its own arithmetic, not the product's. */
export function readArrival({ destinationId, headers, body }: Posted, secret: string): Read {
  const mark = readMark(body);
  const isWhole = mark !== undefined && JSON.stringify(JSON.parse(body)) === body;
  const problem = isSigned(headers, body, secret) ? (isWhole ? undefined : 'body') : 'signature';
  return {
    destinationId,
    messageId: mark?.messageId ?? '',
    sourceId: mark?.sourceId ?? '',
    webhookId: String(headers['webhook-id']),
    attempt: Number(headers['x-millrace-attempt']),
    problem,
  };
}

/** Both schemes: hex HMAC-SHA1 of the body, and Standard Webhooks. */
function isSigned(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const standard = `v1,${createHmac('sha256', secret).update(content).digest('base64')}`;
  const simple = createHmac('sha1', secret).update(body).digest('hex');
  return headers['x-signature'] === simple && headers['webhook-signature'] === standard;
}
