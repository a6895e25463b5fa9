/** Events, ids and bodies that deliver, its twins and the receiver have in common. */
import { createHash } from 'node:crypto';
import { acceptRequest, type AcceptedEvent, webhookBody } from '@millrace/contract';
import { batchTemplate, PLACE, singleTemplate } from '../collect/load.ts';

export type Shape = 'batch' | 'hundred' | 'single';
export const EVENTS_PER_REQUEST: Readonly<Record<Shape, number>> = { batch: 20, hundred: 100, single: 1 };

/** Each destination has an origin of its own: the whole of 127.0.0.0/8 leads to us. */
export function urlOf(contender: string, destination: number, port: number): string {
  const host = `127.${1 + ((destination >> 14) & 0x7f)}.${(destination >> 7) & 0x7f}.${1 + (destination & 0x7f)}`;
  return `http://${host}:${port}/${contender}/${destination}`;
}

export function secretOf(destination: number): string {
  return `whsec_${createHash('sha256').update(`bench ${destination}`).digest('base64')}`;
}

/** The stored body of a request, by the id that makes its events new ones. */
export function requestBodies(shape: Shape): (id: string) => Buffer {
  const calls = EVENTS_PER_REQUEST[shape];
  const parts = (calls > 1 ? batchTemplate(calls) : singleTemplate()).split(PLACE);
  return (id) => Buffer.from(parts.join(id));
}

export function envelopeOf(shape: Shape, requestId: string): string {
  return JSON.stringify({
    shape: shape === 'single' ? 'track' : 'batch',
    receivedAt: new Date().toISOString(),
    requestId,
  });
}

/** The webhook bodies of one request as parsed objects: a twin has them ready before it starts. */
export function parsedBodies(shape: Shape): unknown[] {
  const body: unknown = JSON.parse(requestBodies(shape)('0').toString());
  const events = acceptRequest(body, JSON.parse(envelopeOf(shape, '0')));
  return events.map((event: AcceptedEvent) => JSON.parse(webhookBody(event, 'documented')) as unknown);
}
