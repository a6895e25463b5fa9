import { DestinationHealth } from '@millrace/contract/control';
import { recentLatency } from '../../../store/attempts.ts';
import { type CountSum, sumCounts } from '../../../store/delivery-counts.ts';
import { findDestination } from '../../../store/destinations.ts';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { addUp, type OutcomeCounts, toLane } from '../../../record/record-answers.ts';
import { found } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';
import { laneSentences } from '../../../record/tell-story.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/destinations/:id/health',
    summary: 'The health of a destination: a sentence, figures, and its waiting deliveries',
    answer: DestinationHealth,
    permission: 'destinations:read',
    status: 200,
    async handle({ tx, actor, params }, { laneOf, now }) {
      const { workspaceId } = actor;
      const { id: destinationId, enabled } = found(await findDestination(tx, workspaceId, params.id));
      const to = new Date(now().getTime() + 60_000);
      const ago = (ms: number) => new Date(now().getTime() - ms);
      const range = { workspaceId, destinationId, to };
      const day = await sumCounts(tx, { ...range, from: ago(DAY_MS), stepSeconds: DAY_MS / 1_000 });
      const hour = await sumCounts(tx, { ...range, from: ago(HOUR_MS), stepSeconds: DAY_MS / 1_000 });
      const lane = laneOf(destinationId);
      return {
        destinationId,
        sentence: sentenceFor({ enabled, lane, lastHour: addUp(hour) }),
        lastHour: addUp(hour),
        lastDay: addUp(day),
        latencyMs: await recentLatency(tx, { workspaceId, destinationId }, ago(DAY_MS)),
        errorClasses: errorClasses(day),
        lane: toLane(lane),
      };
    },
  }),
];

type Facts = { enabled: boolean; lane: LaneHealth | undefined; lastHour: OutcomeCounts };

export function sentenceFor({ enabled, lane, lastHour }: Facts): string {
  if (lane !== undefined) return laneSentences(lane).join(' ');
  if (!enabled) return 'The destination is not enabled: nothing is sent to it.';
  const { delivered, retry, discarded, expired } = lastHour;
  const failed = discarded + expired;
  if (delivered + retry + failed === 0) return 'Nothing was sent to it in the last hour.';
  const again = retry === 0 ? '' : `, ${retry} attempts were tried again`;
  if (failed > 0) return `In the last hour ${failed} deliveries were given up and ${delivered} delivered${again}.`;
  return `All is well: ${delivered} deliveries in the last hour${again}, none given up, none waiting.`;
}

function errorClasses(sums: readonly CountSum[]): { errorClass: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { outcome, error_class: errorClass, count } of sums) {
    if (outcome === 'skipped' || errorClass === '') continue;
    counts.set(errorClass, (counts.get(errorClass) ?? 0) + Number(count));
  }
  return [...counts].map(([errorClass, count]) => ({ errorClass, count })).sort((a, b) => b.count - a.count);
}
