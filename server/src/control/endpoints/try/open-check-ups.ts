/**
 * Runs check-ups in the process that took the request. A check-up is running (it has one request under way, and a row whose lease
 * each step renews), done (all steps are graded) or failed (deliver could not be asked, the destination was changed, this process
 * stops). It sends nothing after its lease is over or its destination was deleted: `saveCheckUp` says so before the next step.
 */
import { randomBytes } from 'node:crypto';
import type { CheckUpStep, UrlCheck } from '@millrace/contract/control';
import type { CheckUpAnswer, Question } from '../../../domain/ask.ts';
import { type CheckUpProgress, saveCheckUp } from '../../../store/check-ups.ts';
import type { ControlNeeds, StartedCheckUp } from '../../http/control-needs.ts';
import type { Shares } from '../../http/open-shares.ts';
import { ApiProblem, problemDocument } from '../../problems/problems.ts';
import { askDeliver, notDone } from './ask-deliver.ts';
import {
  type CheckedTarget,
  eventsToSend,
  factsOf,
  readTarget,
  SENT_STEPS,
  timeStep,
  unsentFinding,
  waitingSteps,
} from './check-up-steps.ts';

/** A step waits for its turn and then for deliver, ten seconds at most each. */
export const LEASE_MS = 30_000;

export type CheckUpNeeds = Pick<ControlNeeds, 'store' | 'asks' | 'now' | 'log'> & {
  shares: Pick<Shares, 'askDeliver'>;
};
export type CheckUps = AsyncDisposable & NonNullable<ControlNeeds['checkUps']>;

/** Ends a check-up with a sentence for people; it is no fault of the receiver. */
class Unfinished extends Error {
  override readonly name = 'Unfinished';
}

const STOPPED = 'The process that ran the check-up was stopped. Nothing is sent any more: start it again.';
const CHANGED = 'The destination was changed while the check-up ran, so the rest was not sent. Start it again.';
const FAULTY =
  'Something went wrong on our side; the server log has the error under the id of the check-up. Start it again.';

export function openCheckUps(needs: CheckUpNeeds): CheckUps {
  /** With the function that stops each. */
  const running = new Map<Promise<void>, () => void>();
  let isStopped = false;
  return {
    start(started) {
      const stopped = Promise.withResolvers<never>();
      stopped.promise.catch(() => undefined);
      const stop = () => stopped.reject(new Unfinished(STOPPED));
      // A request that was under way when the process began to stop.
      if (isStopped) stop();
      const run = runCheckUp(started, needs, stopped.promise).finally(() => running.delete(run));
      running.set(run, stop);
    },
    async [Symbol.asyncDispose]() {
      isStopped = true;
      for (const stop of running.values()) stop();
      await Promise.all(running.keys());
    },
  };
}

/** Never rejects. */
async function runCheckUp(started: StartedCheckUp, needs: CheckUpNeeds, stopped: Promise<never>): Promise<void> {
  const { row } = started;
  const progress: CheckUpProgress = { state: 'running', steps: waitingSteps(), facts: null, problem: null };
  const save = (change: Partial<CheckUpProgress>) => {
    Object.assign(progress, change);
    return needs.store.inWorkspace(row.workspace_id, (tx) => saveCheckUp(tx, row, progress, LEASE_MS));
  };
  const fault = (error: unknown) => {
    needs.log.error(
      { checkUpId: row.id, error: error instanceof Error ? error.stack : String(error) },
      'check_up.failed',
    );
  };
  try {
    const saveSteps = (steps: CheckUpStep[]) => save({ steps });
    const report = await takeSteps(started, { ...needs, stopped, saveSteps });
    if (report !== undefined) await save({ state: 'done', ...report });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) fault(error);
    await save({ state: 'failed', problem: problem ?? FAULTY }).catch(fault);
  }
}

type StepNeeds = CheckUpNeeds & { stopped: Promise<never>; saveSteps(steps: CheckUpStep[]): Promise<boolean> };
type Report = Pick<CheckUpProgress, 'steps' | 'facts'>;

/** Undefined when the check-up is not this process's any more. */
async function takeSteps(started: StartedCheckUp, needs: StepNeeds): Promise<Report | undefined> {
  const { row, destination } = started;
  const target = readTarget(destination, row.target_index);
  if (target === undefined) throw new Unfinished(CHANGED);
  const request = openRequests(started, needs);
  const steps = waitingSteps();
  const answers: { right: CheckUpAnswer | undefined; all: CheckUpAnswer[] } = { right: undefined, all: [] };
  for (const [at, step] of SENT_STEPS.entries()) {
    const { name, sent } = step;
    const unsent = unsentFinding(step, answers, target);
    if (unsent === undefined) {
      const { webhookId, answer } = await request(step);
      answers.all.push(answer);
      const right = (answers.right ??= answer);
      const { status, errorClass, ms } = answer;
      const finding = step.grade(answer, right, target);
      steps[at] = { name, sent, webhookId, answer: { status, errorClass, ms }, ...finding };
    } else steps[at] = { name, sent, webhookId: null, answer: null, ...unsent };
    if (!(await needs.saveSteps(steps))) return undefined;
  }
  steps[SENT_STEPS.length] = timeStep(answers);
  const check = answers.right?.status === null ? undefined : await checkConnection(started, target, needs);
  return { steps, facts: factsOf(answers, target, check) };
}

type Requested = { webhookId: string; answer: CheckUpAnswer };

/** The requests of one check-up: the first token is used again where an id is repeated. */
function openRequests(
  started: StartedCheckUp,
  needs: StepNeeds,
): (step: (typeof SENT_STEPS)[number]) => Promise<Requested> {
  const { row, destination } = started;
  const events = eventsToSend(needs.now());
  const newToken = () => randomBytes(16).toString('base64url');
  const firstToken = newToken();
  let isFirst = true;
  return async ({ variation: { isRepeated = false, ...variation }, isLarge = false }) => {
    const token = isFirst || isRepeated ? firstToken : newToken();
    isFirst = false;
    const answer = await ask(started, needs, {
      kind: 'check_up',
      workspaceId: row.workspace_id,
      destinationId: row.destination_id,
      updatedAt: destination.updated_at.toISOString(),
      targetIndex: row.target_index,
      event: isLarge ? events.large : events.sample,
      variation: { ...variation, token },
    });
    if (answer.kind === 'changed') throw new Unfinished(CHANGED);
    if (answer.kind !== 'check_up_sent') throw notDone(answer);
    return { webhookId: `test_${token}`, answer: answer.answer };
  };
}

/** For https: TLS version and certificate, over a connection of its own. A check that cannot be made leaves the facts out. */
async function checkConnection(
  started: StartedCheckUp,
  { url }: CheckedTarget,
  needs: StepNeeds,
): Promise<UrlCheck | undefined> {
  if (!url.startsWith('https:')) return undefined;
  const answer = await ask(started, needs, { kind: 'check_url', url }).catch((error: unknown) => {
    if (error instanceof ApiProblem) return undefined;
    throw error;
  });
  return answer?.kind === 'url_checked' ? answer.check : undefined;
}

/** In turn with the tests and checks of the workspace, and with those of others. */
function ask({ actor }: StartedCheckUp, { shares, asks, stopped }: StepNeeds, question: Question) {
  // A member of its own: tests that the same person sends meanwhile do not end the check-up.
  const turn = shares.askDeliver({ ...actor, id: `${actor.id} check-up` });
  const asked = turn.then(async (taken) => {
    using _ = taken;
    return await askDeliver(question, asks === undefined ? {} : { asks });
  });
  return Promise.race([asked, stopped]);
}

/** The sentence for people; undefined for a fault of ours. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof Unfinished) return error.message;
  if (!(error instanceof ApiProblem)) return undefined;
  const { title, detail, errors = [] } = problemDocument(error, '');
  const [why] = errors;
  return why === undefined ? `${title}. ${detail}` : `${title}: ${why.message}.`;
}
