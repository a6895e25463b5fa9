/** Finds what needs attention in the lanes of a workspace: at most so many of each kind, and how many more there are. */
import type { Attention } from '@millrace/contract/control';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { type DestinationBrief, destinationBriefs, pausedDestinations } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import { oldestWaitingOf } from '../../../store/waiting-deliveries.ts';
import { tellLane, tellPausedUnseen, type TellTimes } from './tell-attention.ts';

export type Found = { items: Attention[]; leftOut: number };

/** More than a person reads. */
export const MOST_OF_A_KIND = 20;
/** Of paused destinations that deliver has not reported a backlog of, this many are looked at. */
const MOST_PAUSED = 100;

export type LanesAsked = { workspaceId: string; lanes: readonly LaneHealth[]; times: TellTimes };

export async function lookAtLanes(tx: Tx, asked: LanesAsked): Promise<Found> {
  const { items, others } = await tellLanes(tx, asked);
  const told = [...items.flatMap(({ destinationId }) => destinationId ?? []), ...others];
  const unseen = await tellUnseen(tx, asked.workspaceId, told);
  const kinds = [...Map.groupBy([...items, ...unseen], ({ kind }) => kind).values()];
  const tooMany = kinds.reduce((sum, own) => sum + Math.max(0, own.length - MOST_OF_A_KIND), 0);
  return { items: kinds.flatMap((own) => own.slice(0, MOST_OF_A_KIND)), leftOut: others.length + tooMany };
}

/** The deepest lanes of each state. `others` are the destinations of further lanes in trouble. */
async function tellLanes(tx: Tx, { workspaceId, lanes, times }: LanesAsked) {
  const ids = lanes.map(({ destinationId }) => destinationId);
  const destinations = await destinationBriefs(tx, workspaceId, ids);
  // A deleted destination has none: the next look of a deliver process clears its lane.
  const known = lanes.flatMap((lane) => {
    const destination = destinations.get(lane.destinationId);
    return destination === undefined ? [] : [{ lane, destination }];
  });
  const sorted = known.toSorted((one, other) => other.lane.depth - one.lane.depth);
  const states = [...Map.groupBy(sorted, ({ lane }) => lane.state).values()];
  const first = states.flatMap((own) => own.slice(0, MOST_OF_A_KIND));
  const oldest = await oldestWaitingOf(
    tx,
    workspaceId,
    first.map(({ destination }) => destination.id),
  );
  const items = first.flatMap((each) => tellLane({ ...each, oldest: oldest.get(each.destination.id) }, times) ?? []);
  const others = states
    .flatMap((own) => own.slice(MOST_OF_A_KIND))
    .filter((each) => tellLane({ ...each, oldest: undefined }, times) !== undefined)
    .map(({ destination }) => destination.id);
  return { items, others };
}

/** Deliver looks at a paused lane only now and then, so it may not have reported its backlog yet. */
async function tellUnseen(tx: Tx, workspaceId: string, told: readonly string[]): Promise<Attention[]> {
  const paused = await pausedDestinations(tx, workspaceId, { besides: told, most: MOST_PAUSED });
  const oldest = await oldestWaitingOf(
    tx,
    workspaceId,
    paused.map(({ id }) => id),
  );
  return paused.flatMap((destination: DestinationBrief) => {
    const first = oldest.get(destination.id);
    return first === undefined ? [] : [tellPausedUnseen(destination, first)];
  });
}
