import { deleteBody, webhookBody } from '@millrace/contract';
import type { Post } from '../client/post.ts';
import type { Standing } from '../client/pace.ts';
import { type Delivery, giveUpAt } from '../../domain/delivery.ts';
import { attemptHeaders, type Webhook } from './webhook.ts';

/** The POSTs of one attempt: the same bytes and the same signatures to every target that is not settled yet. */
export function makePosts(
  delivery: Delivery,
  webhook: Webhook,
  { now, windowMs, standing }: { now: number; windowMs: number; standing: Standing },
): Post[] {
  const { event } = delivery;
  const body = event.type === 'delete' ? deleteBody(event) : webhookBody(event, webhook.format);
  const begun = { takenAt: now, firstAttemptAt: delivery.firstAttemptAt ?? now };
  const endsAt = giveUpAt(begun, windowMs, webhook.resumedAt);
  const ofAttempt = attemptHeaders(delivery, webhook, { now, body, endsAt });
  const { workspaceId } = webhook;
  const posts: Post[] = [];
  for (const { url, headers } of webhook.targets) {
    if (delivery.settled?.[url] !== undefined) continue;
    posts.push({ workspaceId, url, headers: headers.concat(ofAttempt), body, standing });
  }
  return posts;
}
