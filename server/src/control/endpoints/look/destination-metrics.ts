import { DestinationMetrics, DestinationMetricsQuery, TargetErrors } from '@millrace/contract/control';
import { latencySteps, latestAnswers, type TargetAnswers } from '../../../store/attempt-series.ts';
import { findDestination } from '../../../store/destinations.ts';
import { largestDepths } from '../../../store/slot-counts.ts';
import { type Route, route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

const DAY_MS = 86_400_000;
const MAX_STEPS = 200;
const MOST_OF_A_STEP = 100;
const MOST_ATTEMPTS = 1_000;

export const destinationMetricsRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/destinations/:id/metrics',
    summary: 'Latency of attempts and depth of the lane of a destination, over time',
    query: DestinationMetricsQuery,
    answer: DestinationMetrics,
    permission: 'destinations:read',
    status: 200,
    isCostly: true,
    async handle({ tx, actor: { workspaceId }, params, query }, { now }) {
      const { id: destinationId } = found(await findDestination(tx, workspaceId, params.id));
      const stepSeconds = query.step ?? 3_600;
      const to = query.to === undefined ? now() : new Date(query.to);
      const from = query.from === undefined ? new Date(to.getTime() - DAY_MS) : new Date(query.from);
      if ((to.getTime() - from.getTime()) / (stepSeconds * 1_000) > MAX_STEPS) throw tooManySteps();
      const span = { from, to, stepSeconds };
      const of = { workspaceId, destinationId };
      const latency = await latencySteps(tx, of, { ...span, mostOfAStep: MOST_OF_A_STEP });
      const depths = await largestDepths(tx, { ...of, ...span });
      return {
        from: from.toISOString(),
        to: to.toISOString(),
        step: stepSeconds,
        latency: latency.map(({ at, ...rest }) => ({ at: at.toISOString(), ...rest })),
        depth: depths.map(({ at, depth }) => ({ at: at.toISOString(), deliveries: Number(depth) })),
      };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/destinations/:id/errors',
    summary: 'Errors of the last 24 hours by target, each with its first and last time and a delivery',
    answer: TargetErrors,
    permission: 'deliveries:read',
    status: 200,
    isCostly: true,
    async handle({ tx, actor: { workspaceId }, params }, { now }) {
      const { id: destinationId } = found(await findDestination(tx, workspaceId, params.id));
      const to = now();
      const since = new Date(to.getTime() - DAY_MS);
      const latest = await latestAnswers(tx, { workspaceId, destinationId }, { since, most: MOST_ATTEMPTS });
      const isComplete = latest.attempts < MOST_ATTEMPTS;
      const targets = [...Map.groupBy(latest.answers, ({ url }) => url)].map(([url, own]) => toTarget(url, own));
      return {
        attempts: latest.attempts,
        from: (isComplete ? since : (latest.oldest_at ?? since)).toISOString(),
        to: to.toISOString(),
        isComplete,
        targets: targets.toSorted((one, other) => Number(other.isFailing) - Number(one.isFailing)),
      };
    },
  }),
];

function toTarget(url: string, answers: readonly TargetAnswers[]): TargetErrors['targets'][number] {
  const failed = answers.filter(({ error_class: errorClass }) => errorClass !== '');
  const add = (some: readonly TargetAnswers[]) => some.reduce((sum, { posts }) => sum + posts, 0);
  const last = answers.reduce((one, other) => (other.last_at > one.last_at ? other : one));
  return {
    url,
    posts: add(answers),
    failed: add(failed),
    lastAt: last.last_at.toISOString(),
    isFailing: last.error_class !== '',
    errors: failed.map((answer) => ({
      errorClass: answer.error_class,
      count: answer.posts,
      firstAt: answer.first_at.toISOString(),
      lastAt: answer.last_at.toISOString(),
      sentence: answer.sentence,
      sampleDeliveryId: answer.delivery_id,
    })),
  };
}

function tooManySteps(): ApiProblem {
  const message = `must be longer: from and to are more than ${MAX_STEPS} steps apart`;
  return new ApiProblem('invalid_request', [{ path: '/step', message }]);
}
