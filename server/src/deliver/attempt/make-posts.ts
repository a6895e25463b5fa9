import { deleteBody, signBody, signStandardWebhook, webhookBody } from '@millrace/contract';
import type { Post } from '../client/post.ts';
import type { Standing } from '../client/pace.ts';
import { type Delivery, giveUpAt } from '../../domain/delivery.ts';
import { secretsOf, type Webhook } from './webhook.ts';

/** The POSTs of one attempt: the same bytes and the same signatures to every target that is not settled yet. */
export function makePosts(
  delivery: Delivery,
  webhook: Webhook,
  { now, windowMs, standing }: { now: number; windowMs: number; standing: Standing },
): Post[] {
  const { event } = delivery;
  const body = event.type === 'delete' ? deleteBody(event) : webhookBody(event, webhook.format);
  const begun = { takenAt: now, firstAttemptAt: delivery.firstAttemptAt ?? now };
  const tail = signedHeaders(delivery, webhook, { now, body });
  tail.push('X-Millrace-Attempt', String(delivery.attempts + 1));
  tail.push('X-Millrace-Give-Up-At', isoText(giveUpAt(begun, windowMs, webhook.resumedAt)));
  const { workspaceId } = webhook;
  const posts: Post[] = [];
  for (const { url, headers } of webhook.targets) {
    if (delivery.settled?.[url] !== undefined) continue;
    posts.push({ workspaceId, url, headers: headers.concat(tail), body, standing });
  }
  return posts;
}

let lastIso = { ms: 0, text: '' };

/** The events of a batch begin in the same millisecond, and writing a date costs a tenth of their signatures. */
function isoText(ms: number): string {
  if (lastIso.ms !== ms) lastIso = { ms, text: new Date(ms).toISOString() };
  return lastIso.text;
}

function signedHeaders(delivery: Delivery, webhook: Webhook, { now, body }: { now: number; body: string }): string[] {
  const timestampSeconds = Math.floor(now / 1_000);
  const headers = ['webhook-id', delivery.id, 'webhook-timestamp', String(timestampSeconds)];
  const secrets = secretsOf(webhook, now);
  const [secret] = secrets;
  if (secret === undefined) return headers;
  const signature = signStandardWebhook(secrets, { id: delivery.id, timestampSeconds, body });
  headers.push('webhook-signature', signature, 'X-Signature', signBody(secret, body));
  return headers;
}
