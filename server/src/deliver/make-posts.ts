import { deleteBody, signBody, signStandardWebhook, webhookBody } from '@millrace/contract';
import type { Post } from './client/open-client.ts';
import { type Delivery, giveUpAt } from '../delivery/delivery.ts';
import { secretsOf, type Webhook } from './webhook.ts';

const USER_AGENT = 'Millrace/1.0';

/** The POSTs of one attempt: the same bytes and the same signatures to every target that is not settled yet. */
export function makePosts(
  delivery: Delivery,
  webhook: Webhook,
  { now, windowMs }: { now: number; windowMs: number },
): Post[] {
  const { event } = delivery;
  const body = event.type === 'delete' ? deleteBody(event) : webhookBody(event, webhook.format);
  const tail = signedHeaders(delivery, webhook, { now, body });
  const endsAt = giveUpAt(
    { takenAt: now, firstAttemptAt: delivery.firstAttemptAt ?? now },
    windowMs,
    webhook.resumedAt,
  );
  tail.push(
    'X-Millrace-Attempt',
    String(delivery.attempts + 1),
    'X-Millrace-Give-Up-At',
    new Date(endsAt).toISOString(),
  );
  const { workspaceId } = webhook;
  const posts: Post[] = [];
  for (const { url, headers } of webhook.targets) {
    if (delivery.settled?.[url] !== undefined) continue;
    const all = ['User-Agent', USER_AGENT, 'Content-Type', 'application/json', ...headers, ...tail];
    posts.push({ workspaceId, url, headers: all, body });
  }
  return posts;
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
