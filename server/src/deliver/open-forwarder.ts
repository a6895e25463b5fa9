/**
 * One destination outside the configuration: `millrace listen --forward` sends events to a developer's machine with the headers,
 * body and signatures that deliver would send.
 */
import type { AcceptedEvent } from '@millrace/contract';
import type { WebhookSettings } from '@millrace/contract/control';
import type { DestinationConfig } from '../domain/configuration.ts';
import { deliveryId, newDelivery, withAttempt } from '../domain/delivery.ts';
import { routeEvent } from '../domain/route-event.ts';
import { readNetworks } from '../http/address-policy.ts';
import { openClient } from './client/open-client.ts';
import type { Answer } from './client/post.ts';
import { judge, type Outcome } from './attempt/judge.ts';
import { makePosts } from './attempt/make-posts.ts';
import { retrySchedule } from './attempt/retry-schedule.ts';
import { accepts, makeWebhook } from './attempt/webhook.ts';

export type { Answer, DestinationConfig, Outcome, WebhookSettings };

export type ForwarderNeeds = {
  /** With exactly one target. */
  settings: WebhookSettings;
  /** Of the destination that it stands for: `webhook-id` is made from both ids, as in production. */
  destination: Pick<DestinationConfig, 'id' | 'sourceId' | 'catalog' | 'filters'>;
  /** Names of track events that the source's schema keeps from all destinations. */
  blockedEvents?: readonly string[];
  timeoutMs?: number;
};

export type Forwarded = {
  request: { url: string; headers: string[]; body: string };
  attempt: number;
  webhookId: string;
  answer: Answer;
  /** The consequence in production. */
  outcome: Outcome;
};

export type Forwarder = AsyncDisposable & {
  /** Why this destination would not get the event; undefined when it would. */
  skipReason(event: AcceptedEvent): string | undefined;
  /** `attempts`: how many were made before. Never rejects for a failure of the receiver. */
  forward(event: AcceptedEvent, attempts: number): Promise<Forwarded>;
};

/** The developer chose the URL, so every network is allowed; the metadata addresses of clouds stay forbidden. */
const ANY_NETWORK = readNetworks('0.0.0.0/0,::/0');
const SCHEDULE = retrySchedule(1);

export function openForwarder({ settings, destination, blockedEvents = [], timeoutMs }: ForwarderNeeds): Forwarder {
  const client = openClient({ networks: ANY_NETWORK, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const config = { ...destination, workspaceId: '', name: '', enabled: true, settings: {}, updatedAt: '' };
  const webhook = makeWebhook(config, settings, undefined);
  const blocked = new Set(blockedEvents);
  const routing = { destinations: [config], isBlocked: (name: string) => blocked.has(name), accepts };
  return {
    skipReason(event) {
      const [routed] = routeEvent(event, routing);
      return routed?.kind === 'skip' ? routed.reason : undefined;
    },
    async forward(event, attempts) {
      const now = Date.now();
      const webhookId = deliveryId(destination.id, destination.sourceId, event.messageId);
      const delivery = { ...newDelivery(webhookId, event, now), attempts };
      const [post] = makePosts(delivery, webhook, { now, windowMs: SCHEDULE.windowMs, standing: 'unknown' });
      if (post === undefined) throw new Error('A forwarder has one target.');
      const answer = await client.post(post);
      const { url, headers } = post;
      const tried = withAttempt(delivery, { at: now, answers: [] });
      const { outcome } = judge({
        delivery: tried,
        answers: [{ url, answer }],
        policy: 'any',
        schedule: SCHEDULE,
        now: Date.now(),
        dice: 0,
      });
      return {
        request: { url, headers, body: String(post.body) },
        attempt: attempts + 1,
        webhookId,
        answer,
        outcome,
      };
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
