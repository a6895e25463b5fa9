import { hash } from 'node:crypto';
import {
  batchBody,
  batchItem,
  type BodyFormat,
  deleteBody,
  isBatchFormat,
  MAX_BATCHED_EVENTS,
  webhookBody,
} from '@millrace/contract';
import type { Post } from '../client/post.ts';
import type { Standing } from '../client/pace.ts';
import { type Delivery, giveUpAt, orderOf } from '../../domain/delivery.ts';
import { attemptHeaders, signedHeaders, type Webhook } from './webhook.ts';

export type PostNeeds = { now: number; windowMs: number; standing: Standing };

/** One delivery of a batch. */
export type Batched = {
  delivery: Delivery;
  /** Its part of the body, if that was made before. */
  item?: string;
};

/** The POSTs of one attempt: the same bytes and the same signatures to every target that is not settled yet. */
export function makePosts(delivery: Delivery, webhook: Webhook, sent: PostNeeds): Post[] {
  if (isBatchFormat(webhook.format)) return makeBatch([{ delivery }], webhook, sent);
  const { now, windowMs, standing } = sent;
  const body = bodyOf(delivery, webhook.format);
  const begun = { takenAt: now, firstAttemptAt: delivery.firstAttemptAt ?? now };
  const endsAt = giveUpAt(begun, windowMs, webhook.resumedAt);
  return postsTo(webhook, delivery, {
    headers: attemptHeaders(delivery, webhook, { now, body, endsAt }),
    body,
    standing,
  });
}

/**
 * The same for deliveries that share one body. All of them have the same targets left. There is no number of the attempt, no order and no
 * end of the window in the headers: each event has its own.
 */
export function makeBatch(
  batch: readonly Batched[],
  webhook: Webhook,
  { now, standing }: PostNeeds,
  id = batchId(batch.map(({ delivery }) => delivery.id)),
): Post[] {
  const [first] = batch;
  if (first === undefined) return [];
  const body = batchBody(batch.map(({ delivery, item }) => item ?? itemOf(delivery, webhook.format)));
  return postsTo(webhook, first.delivery, { headers: signedHeaders(id, webhook, { now, body }), body, standing });
}

/** How many POSTs to one target so many deliveries are, at least. */
export function postsFor(deliveries: number, { format }: Webhook): number {
  return isBatchFormat(format) ? Math.ceil(deliveries / MAX_BATCHED_EVENTS) : deliveries;
}

/** The part of a batch's body that a delivery is. */
export function itemOf(delivery: Delivery, format: BodyFormat): string {
  const { id, attempts } = delivery;
  return batchItem({ id, attempt: attempts + 1, order: orderOf(delivery) }, bodyOf(delivery, format));
}

/**
 * The `webhook-id` of a batch: the same for the same deliveries and another one for others, so that a receiver may deduplicate by
 * it. That of one delivery is its own.
 */
export function batchId(ids: readonly string[]): string {
  const [only = ''] = ids;
  return ids.length === 1 ? only : `bat_${hash('sha256', ids.join('\n'), 'base64url').slice(0, 27)}`;
}

function bodyOf({ event }: Delivery, format: BodyFormat): string {
  return event.type === 'delete' ? deleteBody(event) : webhookBody(event, format);
}

type Shared = Pick<Post, 'body' | 'headers'> & { standing: Standing };

function postsTo({ workspaceId, targets }: Webhook, { settled }: Delivery, shared: Shared): Post[] {
  const { headers: ofAttempt, body, standing } = shared;
  const posts: Post[] = [];
  for (const { url, headers } of targets) {
    if (settled?.[url] !== undefined) continue;
    posts.push({ workspaceId, url, headers: headers.concat(ofAttempt), body, standing });
  }
  return posts;
}
