/** The request of a past attempt, made anew from its event and the present settings. Nothing is sent. */
import type { AskAnswer, RebuildQuestion } from '../../domain/ask.ts';
import { newDelivery } from '../../domain/delivery.ts';
import { makePosts } from '../attempt/make-posts.ts';
import { findTarget } from './find-target.ts';
import { shownRequest, type TestNeeds } from './send-test.ts';

export type RebuildNeeds = Pick<TestNeeds, 'config' | 'webhookOf' | 'schedule'>;

export async function rebuildRequest(question: RebuildQuestion, needs: RebuildNeeds): Promise<AskAnswer> {
  const found = await findTarget(question, needs);
  if (!found.ok) return { kind: 'not_applied', why: found.why };
  const { deliveryId, event, order, at, attempt, firstAttemptAt } = question;
  const known = order === undefined ? {} : { order };
  const delivery = { ...newDelivery(deliveryId, event, at), ...known, attempts: attempt - 1, firstAttemptAt };
  const { windowMs } = needs.schedule;
  const [post] = makePosts(delivery, found.webhook, { now: at, windowMs, standing: 'unknown' });
  if (post === undefined) throw new Error('a webhook with a target makes a POST');
  return { kind: 'rebuilt', request: shownRequest(post, found.webhook) };
}
