/**
 * One request of a check-up: made and marked as a test is, with one thing changed on purpose. It is never retried and leaves
 * nothing behind.
 */
import { randomBytes } from 'node:crypto';
import {
  BATCH_FRAME_BYTES,
  type BodyFormat,
  isBatchFormat,
  MAX_BATCHED_BYTES,
  MAX_BATCHED_EVENTS,
  signingKey,
} from '@millrace/contract';
import type { AskAnswer, CheckUpAnswer, CheckUpQuestion, CheckUpVariation } from '../../domain/ask.ts';
import { type Delivery, newDelivery } from '../../domain/delivery.ts';
import { type Batched, itemOf, makeBatch, makePosts } from '../attempt/make-posts.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Answer } from '../client/post.ts';
import { findTarget, ownHeaders, TEST_HEADER, TEST_ID } from './find-target.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { TestNeeds } from './send-test.ts';

export async function sendCheckUp(question: CheckUpQuestion, needs: TestNeeds): Promise<AskAnswer> {
  const { variation, event } = question;
  const found = await findTarget(question, needs);
  if (!found.ok) return { kind: 'not_applied', why: found.why };
  if (found.isNewer) return { kind: 'changed' };
  const at = needs.now();
  const delivery = {
    ...newDelivery(`${TEST_ID}${variation.token}`, event, at),
    attempts: variation.attempt - 1,
    firstAttemptAt: at,
  };
  const { windowMs } = needs.schedule;
  const sentAt = { now: at - variation.ageSeconds * 1_000, windowMs, standing: 'unknown' } as const;
  const webhook = varied(found.webhook, variation, at);
  const batch = variation.fillsBatch === true ? fullBatch(delivery, webhook.format) : [{ delivery }];
  // The id stays that of the test: receivers know tests by it.
  const [made] =
    batch.length === 1 ? makePosts(delivery, webhook, sentAt) : makeBatch(batch, webhook, sentAt, delivery.id);
  if (made === undefined) throw new Error('a webhook with a target makes a POST');
  const answer = await needs.client.post({ ...made, headers: made.headers.concat(TEST_HEADER) });
  const secrets = ownHeaders(found.webhook).map(([, value]) => value);
  const bytes = Buffer.byteLength(made.body);
  return { kind: 'check_up_sent', answer: { ...shown(answer, secrets), bytes, events: batch.length } };
}

/** As many of the event, each with an id of its own, as deliver puts into one POST; one where the destination gets no batches. */
function fullBatch(delivery: Delivery, format: BodyFormat): Batched[] {
  const batch: Batched[] = [{ delivery }];
  if (!isBatchFormat(format)) return batch;
  let bytes = BATCH_FRAME_BYTES + Buffer.byteLength(itemOf(delivery, format));
  while (batch.length < MAX_BATCHED_EVENTS) {
    const next = { ...delivery, id: `${delivery.id}-${batch.length + 1}` };
    const item = itemOf(next, format);
    bytes += Buffer.byteLength(item) + 1;
    if (bytes > MAX_BATCHED_BYTES) break;
    batch.push({ delivery: next, item });
  }
  return batch;
}

function varied(webhook: Webhook, { signature }: CheckUpVariation, now: number): Webhook {
  const { secret, previousSecret } = webhook;
  // A secret whose time is over signs nothing, although an old timestamp would be within its time.
  const previous = previousSecret !== undefined && previousSecret.validUntil > now ? previousSecret : undefined;
  if (signature === 'right' || secret === undefined) return { ...webhook, previousSecret: previous };
  return { ...webhook, secret: signingKey(randomBytes(32).toString('hex')), previousSecret: undefined };
}

function shown(answer: Answer, secrets: readonly string[]): Omit<CheckUpAnswer, 'bytes' | 'events'> {
  const ms = Math.round(answer.timings.totalMs);
  if (answer.kind === 'error') {
    const { errorClass, message } = answer;
    const sentence = hideSecrets(message, secrets);
    return { status: null, errorClass, sentence, ms, isReused: false, isClosing: false };
  }
  const { status, isClosing = false, timings } = answer;
  const sentence = `The receiver answered ${status} after ${ms} ms.`;
  return { status, errorClass: null, sentence, ms, isReused: timings.connectMs === undefined, isClosing };
}
