import type { Answer, Post } from '../client/post.ts';
import type { Standing } from '../client/pace.ts';
import { isBatchFormat } from '@millrace/contract';
import { meaningOf, type TargetAnswer } from './judge.ts';
import { type Batched, makeBatch, makePosts, type PostNeeds } from './make-posts.ts';
import type { Webhook } from './webhook.ts';

export type Attempt = {
  startedAt: number;
  /** With policy `any`, only those that had come when one of them was good. */
  answers: TargetAnswer[];
  /** How many events each POST had; without it, one. */
  events?: number;
  /** Set while some POSTs are still under way: their answers change nothing any more, but they hold the slot. */
  rest?: Promise<unknown>;
};

export type AttemptNeeds = {
  post(post: Post): Promise<Answer>;
  windowMs: number;
  /** Of the receiver, as far as we know. */
  standing?: Standing;
  now(): number;
};

/**
 * One round of POSTs, side by side, to every target that is not settled yet: of one delivery, or of several that share a body. Never
 * rejects.
 */
export function attempt(batch: readonly Batched[], webhook: Webhook, needs: AttemptNeeds): Promise<Attempt> {
  const startedAt = needs.now();
  try {
    const { windowMs, standing = 'unknown' } = needs;
    const posts = postsOf(batch, webhook, { now: startedAt, windowMs, standing });
    const made = attemptPosts(posts, webhook, needs.post, startedAt);
    return batch.length === 1 ? made : made.then((attempt) => ({ ...attempt, events: batch.length }));
  } catch (error) {
    // A bug of ours with this one event must not end the process and its other deliveries.
    return Promise.resolve({ startedAt, answers: [{ url: '', answer: unsendable(error) }] });
  }
}

function postsOf(batch: readonly Batched[], webhook: Webhook, sent: PostNeeds): Post[] {
  const [first] = batch;
  if (first === undefined || isBatchFormat(webhook.format)) return makeBatch(batch, webhook, sent);
  return makePosts(first.delivery, webhook, sent);
}

function unsendable(error: unknown): Answer {
  const message = `The request could not be made: ${error instanceof Error ? error.message : String(error)}.`;
  return { kind: 'error', errorClass: 'request_invalid', message, timings: { totalMs: 0 } };
}

type SendPost = AttemptNeeds['post'];

function attemptPosts(posts: readonly Post[], webhook: Webhook, post: SendPost, startedAt: number): Promise<Attempt> {
  const [only] = posts;
  if (posts.length !== 1 || only === undefined) return attemptMany(posts, webhook, post, startedAt);
  const answered = (answer: Answer) => ({ startedAt, answers: [{ url: only.url, answer }] });
  return post(only).then(answered, (error: unknown) => answered(unsendable(error)));
}

/** One good answer is enough for policy `any`: the event need not wait for a target that hangs. */
async function attemptMany(
  posts: readonly Post[],
  { policy }: Webhook,
  post: SendPost,
  startedAt: number,
): Promise<Attempt> {
  const answers: TargetAnswer[] = [];
  const isEnough = Promise.withResolvers<void>();
  const all = Promise.all(
    posts.map(async (each) => {
      const answer = await post(each).catch(unsendable);
      answers.push({ url: each.url, answer });
      if (policy === 'any' && meaningOf(answer) === 'delivered') isEnough.resolve();
    }),
  );
  await Promise.race([all, isEnough.promise]);
  const isComplete = answers.length === posts.length;
  return { startedAt, answers: [...answers], ...(isComplete ? {} : { rest: all }) };
}
