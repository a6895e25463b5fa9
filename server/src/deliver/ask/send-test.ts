/**
 * One call to one target, as a delivery would be sent: the same body, headers, signature and client. It passes no lane, gate or
 * recorder, so it is never retried and leaves nothing behind. Receivers know it by its mark.
 */
import { randomBytes } from 'node:crypto';
import type { TestedDestination } from '@millrace/contract/control';
import type { AskAnswer, TestQuestion } from '../../domain/ask.ts';
import type { DestinationConfig } from '../../domain/configuration.ts';
import { newDelivery, withAttempt } from '../../domain/delivery.ts';
import type { ConfigView } from '../../stream/config/config-bucket.ts';
import { judge, type Outcome } from '../attempt/judge.ts';
import { makePosts } from '../attempt/make-posts.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import { fixedHeaders, type Webhook, type WebhookOf } from '../attempt/webhook.ts';
import type { Client } from '../client/open-client.ts';
import type { Answer, Post } from '../client/post.ts';
import { isShown } from '../client/shown-address.ts';
import { hideInBody, hideSecrets } from './hide-secrets.ts';

export type TestNeeds = {
  config: ConfigView;
  webhookOf: WebhookOf;
  client: Pick<Client, 'post'>;
  schedule: RetrySchedule;
  now(): number;
};

/** Both are the mark of a test; the id is part of what `webhook-signature` signs. */
const TEST_ID = 'test_';
const TEST_HEADER = ['X-Millrace-Test', 'true'];
/** A change made a moment before the test is on its way to this process. */
const NEWEST_WITHIN_MS = 2_000;

const NOT_THERE =
  'deliver has not heard of this version of the destination: see its projection, or try again in a few seconds';
const NOT_READABLE =
  'deliver cannot read the settings of the destination: give every process the same MILLRACE_KEYS and version';

export async function sendTest(question: TestQuestion, needs: TestNeeds): Promise<AskAnswer> {
  const destination = await newest(question, needs.config);
  if (destination === undefined) return { kind: 'not_applied', why: NOT_THERE };
  const webhook = needs.webhookOf(destination);
  if (webhook.targets.length === 0) return { kind: 'not_applied', why: NOT_READABLE };
  const target = webhook.targets[question.targetIndex];
  if (target === undefined)
    return { kind: 'not_applied', why: `the destination has no target ${question.targetIndex}` };
  return { kind: 'tested', tested: await post(question, { ...webhook, targets: [target] }, needs) };
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

/** This version of the destination or a newer one; undefined when it does not come in time, or belongs to another workspace. */
async function newest(asked: TestQuestion, config: ConfigView): Promise<DestinationConfig | undefined> {
  const find = () => {
    const found = config.destination(asked.destinationId);
    const isNewEnough = found !== undefined && Date.parse(found.updatedAt) >= Date.parse(asked.updatedAt);
    return isNewEnough && found.workspaceId === asked.workspaceId ? found : undefined;
  };
  const known = find();
  if (known !== undefined) return known;
  const changed = Promise.withResolvers<void>();
  const timer = setTimeout(changed.resolve, NEWEST_WITHIN_MS);
  using _ = config.onDestination((id) => {
    if (id === asked.destinationId && find() !== undefined) changed.resolve();
  });
  await changed.promise;
  clearTimeout(timer);
  return find();
}

const OURS = fixedHeaders().length;

/** The headers that the owner set: their values are secrets. */
function ownHeaders({ targets: [target] }: Webhook): [name: string, value: string][] {
  return pairs(target?.headers.slice(OURS) ?? []);
}

function pairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2] ?? '', headers[at * 2 + 1] ?? '']);
}

/** Together they fit into one answer, whatever escapes their characters need. */
const MAX_BODY = 65_536;

function shownRequest({ url, headers, body }: Post, webhook: Webhook): TestedDestination['request'] {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const own = new Set(ownHeaders(webhook).map(([name]) => name));
  // The client writes these two by itself.
  const written = ['Host', new URL(url).host, 'Content-Length', String(Buffer.byteLength(text))];
  const shown = pairs([...written, ...headers]).map(([name, value]) => ({ name, value: own.has(name) ? null : value }));
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
      const asked = outcome.holdUntil === undefined ? '' : ', because the receiver asked to wait';
      return `A delivery with this answer would be tried again in about ${seconds} s${asked}, and then at growing intervals.`;
    }
  }
}
