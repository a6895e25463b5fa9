import type { DebugLog } from './debug-log.ts';
import type { GivingUp } from './giving-up.ts';
import { judgeAnswer, type Outcome } from './judge-answer.ts';
import type { Post, PostBody } from './post.ts';
import { type RetrySettings, retryDelayMs } from './retry-delay.ts';
import { unref } from './unref.ts';

export type SendNeeds = {
  post: Post;
  settings: RetrySettings & { maxTries: number };
  nowMs(): number;
  random(): number;
  /** Ends all waiting; a request without an answer by then counts as not sent. */
  giving: GivingUp;
  log: DebugLog | undefined;
};

/** Sends the same bytes until the service takes or refuses them, the tries are used up, or the signal ends it. */
export async function sendBody(body: PostBody, needs: SendNeeds): Promise<Outcome> {
  const { post, settings, giving, log } = needs;
  for (let tries = 1; ; tries += 1) {
    const answer = await post.send({ ...body, retryCount: tries - 1, giving });
    const outcome = judgeAnswer(answer, needs.nowMs());
    if (outcome.kind !== 'retry' || tries >= settings.maxTries || giving.isOver) return outcome;
    const { afterMs, problem } = outcome;
    const chance = afterMs === undefined ? { random: needs.random() } : { random: needs.random(), afterMs };
    const delayMs = retryDelayMs(tries, settings, chance);
    log?.('request.postponed', { tries, delayMs: Math.round(delayMs), code: problem.code, message: problem.message });
    await wait(delayMs, giving);
    if (giving.isOver) return outcome;
  }
}

/** Does not keep the process alive: the caller that waits for the end of it does that. */
function wait(ms: number, giving: GivingUp): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      giving.acts.delete(end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    unref(timer);
    giving.acts.add(end);
  });
}
