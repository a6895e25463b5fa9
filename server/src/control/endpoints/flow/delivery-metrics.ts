import { DeliveryMetrics, DeliveryMetricsQuery, Refusals, Usage, UsageQuery } from '@millrace/contract/control';
import { sumCounts } from '../../../store/delivery-counts.ts';
import { refusalsOfSource } from '../../../store/refusals.ts';
import { findSource, sourceNames } from '../../../store/sources.ts';
import { usageOfMonth } from '../../../store/usage.ts';
import { seriesOf } from '../../../record/record-answers.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';

import { hideInRefusals } from './hide-payloads.ts';

const DAY_MS = 86_400_000;
/** More points than a screen can show. */
const MAX_STEPS = 2_000;

export const metricsRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/metrics/deliveries',
    summary: 'The number of deliveries by outcome, over time',
    query: DeliveryMetricsQuery,
    answer: DeliveryMetrics,
    permission: 'deliveries:read',
    status: 200,
    async handle({ tx, actor, query }, { now }) {
      const { destinationId, step: stepSeconds = 3_600 } = query;
      const to = query.to === undefined ? now() : new Date(query.to);
      const from = query.from === undefined ? new Date(to.getTime() - DAY_MS) : new Date(query.from);
      if ((to.getTime() - from.getTime()) / (stepSeconds * 1_000) > MAX_STEPS) throw tooManySteps();
      const { workspaceId } = actor;
      const sums = await sumCounts(tx, { workspaceId, destinationId, from, to, stepSeconds });
      const series = seriesOf(sums);
      return { from: from.toISOString(), to: to.toISOString(), step: stepSeconds, series };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/usage',
    summary: 'Accepted calls of each source in a month, before any filter',
    query: UsageQuery,
    answer: Usage,
    permission: 'usage:read',
    status: 200,
    async handle({ tx, actor, query }, { now }) {
      const month = query.month ?? now().toISOString().slice(0, 7);
      const rows = await usageOfMonth(tx, actor.workspaceId, `${month}-01`);
      const names = await sourceNames(
        tx,
        actor.workspaceId,
        rows.map((row) => row.source_id),
      );
      const sources = rows.map(({ source_id: sourceId, calls, suppressed }) => {
        const counts = { calls: Number(calls), suppressed: Number(suppressed) };
        return { sourceId, name: names.get(sourceId) ?? null, ...counts };
      });
      return { month, calls: sources.reduce((sum, { calls }) => sum + calls, 0), sources };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sources/:id/refusals',
    summary: 'Refused calls of the last seven days, with samples',
    answer: Refusals,
    permission: 'sources:read',
    payloads: { hide: hideInRefusals },
    status: 200,
    async handle({ tx, actor, params }, { now }) {
      const { workspaceId } = actor;
      const { id: sourceId } = found(await findSource(tx, workspaceId, params.id));
      const from = new Date(now().getTime() - 7 * DAY_MS).toISOString().slice(0, 10);
      const rows = await refusalsOfSource(tx, { workspaceId, sourceId }, from);
      return {
        items: rows.map(({ day, code, count, last_at: lastAt, samples }) => {
          return { day, code, count: Number(count), lastAt: lastAt.toISOString(), samples };
        }),
      };
    },
  }),
];

function tooManySteps(): ApiProblem {
  const message = `must be longer: from and to are more than ${MAX_STEPS} steps apart`;
  return new ApiProblem('invalid_request', [{ path: '/step', message }]);
}
