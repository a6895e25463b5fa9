/**
 * One call to one target, as a delivery would be sent: the same body, headers, signature and client. It passes no lane, gate or
 * recorder, so it is never retried and leaves nothing behind. Receivers know it by its mark.
 */
import { randomBytes } from 'node:crypto';
import type { TestedDestination } from '@millrace/contract/control';
import type { AskAnswer, TestQuestion } from '../../domain/ask.ts';
import { newDelivery, withAttempt } from '../../domain/delivery.ts';
import { judge, type Outcome } from '../attempt/judge.ts';
import { makePosts } from '../attempt/make-posts.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Client } from '../client/open-client.ts';
import type { Answer, Post } from '../client/post.ts';
import { isShown } from '../client/shown-address.ts';
import { findTarget, type FindNeeds, headerPairs, ownHeaders, TEST_HEADER, TEST_ID } from './find-target.ts';
import { hideInBody, hideSecrets } from './hide-secrets.ts';

export type TestNeeds = FindNeeds & {
  client: Pick<Client, 'post'>;
  schedule: RetrySchedule;
  now(): number;
};

export async function sendTest(question: TestQuestion, needs: TestNeeds): Promise<AskAnswer> {
  const found = await findTarget(question, needs);
  if (!found.ok) return { kind: 'not_applied', why: found.why };
  return { kind: 'tested', tested: await post(question, found.webhook, needs) };
}

async function post(question: TestQuestion, webhook: Webhook, needs: TestNeeds): Promise<TestedDestination> {
  const { schedule, client } = needs;
  const at = needs.now();
  const delivery = newDelivery(`${TEST_ID}${randomBytes(16).toString('base64url')}`, question.event, at);
  const posts = makePosts(delivery, webhook, { now: at, windowMs: schedule.windowMs, standing: 'unknown' });
  const [made] = posts;
  if (made === undefined) throw new Error('a webhook with a target makes a POST');
  const sent: Post = { ...made, headers: made.headers.concat(TEST_HEADER) };
  const answer = await client.post(sent);
  const { outcome } = judge({
    delivery: withAttempt(delivery, { at, answers: [] }),
    answers: [{ url: sent.url, answer }],
    policy: webhook.policy,
    schedule,
    now: needs.now(),
    dice: 0,
  });
  const secrets = ownHeaders(webhook).map(([, value]) => value);
  return {
    id: delivery.id,
    at: new Date(at).toISOString(),
    targetIndex: question.targetIndex,
    request: shownRequest(sent, webhook),
    answer: shownAnswer(answer, sent.url, secrets),
    outcome: { kind: outcome.kind, sentence: outcomeSentence(outcome, needs.now()) },
  };
}

/** Together they fit into one answer, whatever escapes their characters need. */
const MAX_BODY = 65_536;

export function shownRequest({ url, headers, body }: Post, webhook: Webhook): TestedDestination['request'] {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const own = new Set(ownHeaders(webhook).map(([name]) => name));
  // The client writes these two by itself.
  const written = ['Host', new URL(url).host, 'Content-Length', String(Buffer.byteLength(text))];
  const shown = headerPairs([...written, ...headers]).map(([name, value]) => ({
    name,
    value: own.has(name) ? null : value,
  }));
  const isCut = text.length > MAX_BODY;
  return { method: 'POST', url, headers: shown, body: isCut ? text.slice(0, MAX_BODY).toWellFormed() : text, isCut };
}

/** A receiver may send back what it got: the values of the owner's headers are taken out of whatever it says. */
function shownAnswer(answer: Answer, url: string, secrets: readonly string[]): TestedDestination['answer'] {
  const { address, timings } = answer;
  const hide = (text: string) => hideSecrets(text, secrets);
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const shared = { address: address !== undefined && isShown(address, host) ? address : null, timings };
  if (answer.kind === 'error') {
    const { errorClass, message } = answer;
    return { ...shared, status: null, body: null, retryAfter: null, errorClass, sentence: hide(message) };
  }
  const { status, body, retryAfter } = answer;
  const asked = retryAfter === undefined ? null : hide(retryAfter);
  const said = `The receiver answered ${status} after ${Math.round(timings.totalMs)} ms.`;
  return { ...shared, status, body: hideInBody(body, secrets), retryAfter: asked, errorClass: null, sentence: said };
}

function outcomeSentence(outcome: Outcome, now: number): string {
  switch (outcome.kind) {
    case 'delivered':
      return 'A delivery with this answer would be done: delivered.';
    case 'discarded':
      return 'A delivery with this answer would be given up at once and kept as a dead letter: the receiver would refuse it again.';
    case 'expired':
      return 'A delivery with this answer would be given up: its time is over.';
    case 'retry': {
      const seconds = Math.max(0, Math.round((outcome.dueAt - now) / 1_000));
      const isAsked = outcome.holdUntil !== undefined && outcome.holdUntil >= outcome.dueAt;
      const asked = isAsked ? ', because the receiver asked to wait' : '';
      return `A delivery with this answer would be tried again in about ${seconds} s${asked}, and then at growing intervals.`;
    }
  }
}
