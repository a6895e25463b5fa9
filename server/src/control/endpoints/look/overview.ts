import { type Attention, Overview, OverviewQuery } from '@millrace/contract/control';
import { RETRY_WINDOW_MS } from '../../../domain/delivery.ts';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { addUp, seriesOf } from '../../../record/record-answers.ts';
import { allDestinationIds, type DestinationBrief, destinationBriefs } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import { readInOrder } from '../../../store/rows.ts';
import { recentRefusals } from '../../../store/refusals.ts';
import {
  CALL_SLOT_MS,
  callsIn,
  isCountBehind,
  OUTCOME_SLOT_MS,
  quietSources,
  slotOf,
  sumOutcomeSlots,
} from '../../../store/slot-counts.ts';
import { oldestWaiting } from '../../../store/waiting-deliveries.ts';
import type { Actor } from '../../access/actor.ts';
import { isAllowed } from '../../access/permissions.ts';
import { type Route, route } from '../../http/route.ts';
import { type Found, lookAtLanes, MOST_OF_A_KIND } from './look-at-lanes.ts';
import { tellLetters, tellQuiet, tellRefusals } from './tell-attention.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A source counts as quiet after this time without a call, if at the same time yesterday it sent at least so many. */
const QUIET_MS = 30 * MINUTE_MS;
const FEWEST_CALLS = 20;
const FEWEST_REFUSALS = 10;

type Letters = ReadonlyMap<string, number> | undefined;

export const overviewRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/overview',
    summary: 'The home screen of a workspace: calls, deliveries, and troubles with their remedies',
    query: OverviewQuery,
    answer: Overview,
    permission: 'deliveries:read',
    status: 200,
    prepare: (_, { side }) => side.letterCounts(),
    async handle({ tx, actor, query, prepared }, { lanes, now: readClock, retryWindowMs = RETRY_WINDOW_MS }) {
      const { workspaceId } = actor;
      const now = readClock();
      await readInOrder(tx);
      const own = lanes?.ofWorkspace(workspaceId) ?? [];
      const letters = await lettersOf(tx, actor, prepared as Letters);
      const series = await readSeries(tx, workspaceId, { now, step: query.step ?? 3_600 });
      const { delivered, discarded, expired } = addUp(series.sums);
      const givenUp = discarded + expired;
      const share = delivered + givenUp === 0 ? null : delivered / (delivered + givenUp);
      const isFailing = ({ state }: LaneHealth) => state === 'failing' || state === 'asked_to_wait';
      const found = [
        await lookAtLanes(tx, { workspaceId, lanes: own, times: { now, windowMs: retryWindowMs } }),
        await lookAtLetters(tx, workspaceId, letters ?? new Map()),
        await lookAtSources(tx, actor, now),
      ];
      return {
        at: now.toISOString(),
        tiles: {
          callsPerMinute: await callsPerMinute(tx, workspaceId, now),
          delivered: { share, delivered, givenUp },
          failing: own.filter(isFailing).length,
          waiting: own.reduce((sum, { depth }) => sum + depth, 0),
          oldestWaiting: await readOldest(tx, workspaceId),
          deadLetters: letters === undefined ? null : [...letters.values()].reduce((sum, count) => sum + count, 0),
        },
        series: series.shown,
        attention: inOrder(found.flatMap(({ items }) => items)),
        attentionLeftOut: found.reduce((sum, { leftOut }) => sum + leftOut, 0),
      };
    },
  }),
];

function inOrder(items: Attention[]): Attention[] {
  return items.toSorted((one, other) => Number(one.severity !== 'critical') - Number(other.severity !== 'critical'));
}

async function callsPerMinute(tx: Tx, workspaceId: string, now: Date) {
  const from = slotOf(now.getTime(), CALL_SLOT_MS).getTime() - CALL_SLOT_MS;
  const span = (start: number) => ({ from: new Date(start), to: new Date(start + 2 * CALL_SLOT_MS) });
  const perMinute = (calls: number, ms: number) => Math.round((calls / (ms / MINUTE_MS)) * 10) / 10;
  const calls = await callsIn(tx, workspaceId, span(from));
  const before = await callsIn(tx, workspaceId, span(from - DAY_MS));
  const isKnown = !(await isCountBehind(tx, workspaceId, new Date(from)));
  return { now: isKnown ? perMinute(calls, now.getTime() - from) : null, dayAgo: perMinute(before, 2 * CALL_SLOT_MS) };
}

async function readSeries(tx: Tx, workspaceId: string, { now, step }: { now: Date; step: number }) {
  const from = slotOf(now.getTime() - DAY_MS, OUTCOME_SLOT_MS);
  const sums = await sumOutcomeSlots(tx, { workspaceId, from, stepSeconds: step });
  return { sums, shown: { from: from.toISOString(), to: now.toISOString(), step, points: seriesOf(sums) } };
}

async function readOldest(tx: Tx, workspaceId: string) {
  const row = await oldestWaiting(tx, workspaceId);
  if (row === undefined) return null;
  return { deliveryId: row.id, destinationId: row.destination_id, receivedAt: row.received_at.toISOString() };
}

/** Those of the workspace; undefined when they are not known, or are none of this token's business. */
async function lettersOf(tx: Tx, actor: Actor, all: Letters): Promise<Letters> {
  if (all === undefined || !isAllowed('dead-letters:read', actor)) return undefined;
  const ids = all.size === 0 ? [] : await allDestinationIds(tx, actor.workspaceId);
  return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) ?? 0] as const] : [])));
}

async function lookAtLetters(tx: Tx, workspaceId: string, letters: ReadonlyMap<string, number>): Promise<Found> {
  const sorted = [...letters].toSorted(([, one], [, other]) => other - one);
  const first = sorted.slice(0, MOST_OF_A_KIND);
  const destinations = await destinationBriefs(
    tx,
    workspaceId,
    first.map(([id]) => id),
  );
  const told = ([id, count]: [string, number]) => tellIf(destinations.get(id), (one) => tellLetters(one, count));
  return { items: first.flatMap(told), leftOut: sorted.length - first.length };
}

function tellIf(destination: DestinationBrief | undefined, tell: (one: DestinationBrief) => Attention): Attention[] {
  return destination === undefined ? [] : [tell(destination)];
}

async function lookAtSources(tx: Tx, actor: Actor, now: Date): Promise<Found> {
  if (!isAllowed('sources:read', actor)) return { items: [], leftOut: 0 };
  const { workspaceId } = actor;
  const most = MOST_OF_A_KIND;
  const since = new Date(now.getTime() - HOUR_MS);
  const refused = await recentRefusals(tx, workspaceId, { since, fewest: FEWEST_REFUSALS, most });
  const from = slotOf(now.getTime(), CALL_SLOT_MS).getTime() - QUIET_MS;
  const span = (start: number) => ({ from: new Date(start), to: new Date(start + QUIET_MS) });
  const spans = { now: { from: new Date(from), to: new Date(now.getTime() + DAY_MS) }, before: span(from - DAY_MS) };
  const quiet = await quietSources(tx, workspaceId, { ...spans, fewest: FEWEST_CALLS, most });
  const items = [...refused.map(tellRefusals), ...quiet.map((one) => tellQuiet(one, QUIET_MS / MINUTE_MS))];
  return { items, leftOut: 0 };
}
