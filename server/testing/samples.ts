/** One of each, for tests that care about a part of it. */
import type { AcceptedEvent } from '@millrace/contract';
import type { DestinationConfig } from '../src/domain/configuration.ts';
import type { ErrorClass } from '../src/deliver/client/error-classes.ts';
import type { Answer } from '../src/deliver/client/post.ts';
import { type Delivery, newDelivery } from '../src/domain/delivery.ts';
import type { TargetAnswer } from '../src/deliver/attempt/judge.ts';
import { fixedHeaders, type Webhook } from '../src/deliver/attempt/webhook.ts';

export const EVENT: AcceptedEvent = {
  messageId: 'm1',
  type: 'track',
  userId: 'u1',
  event: 'E',
  context: {},
  receivedAt: '2026-11-15T00:08:50.000Z',
  timestamp: '2026-11-15T00:08:46.123Z',
};

export const DESTINATION: DestinationConfig = {
  id: 'dst_1',
  workspaceId: 'ws_1',
  sourceId: 'src_1',
  catalog: 'Webhooks',
  name: 'ours',
  enabled: true,
  settings: {},
  updatedAt: '2026-01-01T00:00:00Z',
};

export const URL_1 = 'https://one.example/hook';

export function aWebhook(change: Partial<Webhook> = {}): Webhook {
  return {
    destinationId: 'dst_1',
    workspaceId: 'ws_1',
    sourceId: 'src_1',
    targets: [{ url: URL_1, headers: fixedHeaders() }],
    secret: undefined,
    previousSecret: undefined,
    policy: 'any',
    format: 'documented',
    order: 'none',
    maxConcurrency: undefined,
    maxPerSecond: undefined,
    isPaused: false,
    isForNewer: false,
    resumedAt: 0,
    ...change,
  };
}

export function aDelivery(change: Partial<Delivery> = {}): Delivery {
  return { ...newDelivery('dlv_1', EVENT, 0), ...change };
}

export function status(code: number, { retryAfter, ms = 1 }: { retryAfter?: string; ms?: number } = {}): Answer {
  const asked = retryAfter === undefined ? {} : { retryAfter };
  return { kind: 'status', status: code, body: '', timings: { totalMs: ms }, ...asked };
}

export function failure(errorClass: ErrorClass, ms = 1): Answer {
  return { kind: 'error', errorClass, message: `it was ${errorClass}`, timings: { totalMs: ms } };
}

/** These answers, each of a target of its own. */
export function answersOf(...answers: Answer[]): TargetAnswer[] {
  return answers.map((answer, index) => ({ url: `https://t${index}.example/`, answer }));
}

export function track(event: string, change: object = {}): object {
  return { type: 'track', messageId: `m-${event}`, userId: 'u1', event, properties: { n: 1 }, ...change };
}

export function tracks(count: number, change: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => track(`e${index}`, change));
}
