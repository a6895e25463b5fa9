import type { AcceptedEvent } from '@millrace/contract';
import type { CatalogEntry, NewReplay } from '@millrace/contract/control';
import { deliveryId, newDelivery } from '../../domain/delivery.ts';
import type { JobRow, JobStep } from '../../store/jobs.ts';
import type { Store } from '../../store/open-store.ts';
import { type EventReader, loadStream } from '../../stream/events/stored-events.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';
import { MAX_DELIVERIES } from '../../stream/deliveries/append-to-lane.ts';
import type { LaneFeeder } from './feed-lane.ts';
import { openMarks, openTally, readRouting, type ReplayRouting } from './replay-routing.ts';
import { FIXED_AHEAD, openRunAhead, type RunAhead } from './run-ahead.ts';
import type { JobWork } from './run-jobs.ts';
import { type EventPlace, type EventScan, type EventsScanned, scanEvents } from './scan-events.ts';

export type ReplayNeeds = {
  store: Store;
  side: ControlSide;
  feeder: LaneFeeder;
  catalog: readonly CatalogEntry[];
  now(): Date;
};

/** The job first counts all events, then appends them to the lane. */
type Position = { phase?: 'replay'; at?: EventPlace };

/** Makes new deliveries of stored events, for one destination, by the rules of today. */
export function replayWork(needs: ReplayNeeds): JobWork {
  const marks = openMarks();
  const learned = openRunAhead(() => performance.now());
  return async (job, most) => {
    const request = job.asked as NewReplay;
    const routing = await needs.store.asSystem((tx) => readRouting(tx, request, needs.catalog, marks));
    const position = job.position as Position;
    if (routing === undefined) return { position, end: 'failed', problem: 'the source or the destination was deleted' };
    const ahead = request.ratePerSecond === undefined ? learned : FIXED_AHEAD;
    return position.phase === undefined ? count(job, routing, needs) : replaySome(job, { routing, most, ahead }, needs);
  };
}

async function count(job: JobRow, routing: ReplayRouting, { side }: ReplayNeeds): Promise<JobStep> {
  const tally = openTally(routing);
  const { at } = job.position as Position;
  if (isCellGone(side.events, at)) return { position: job.position, problem: CELL_GONE };
  const scan = { range: job.asked as NewReplay, at, most: Infinity };
  // `isWanted` counts and never keeps.
  const isWanted = (event: AcceptedEvent) => tally.isDelivered(event) && false;
  const { next } = await scanOn(side.events, { ...scan, isWanted });
  return { position: next === undefined ? { phase: 'replay' } : { at: next }, counted: tally.delivered() };
}

async function replaySome(
  job: JobRow,
  { routing, most, ahead }: { routing: ReplayRouting; most: number; ahead: RunAhead },
  { side, feeder, now }: ReplayNeeds,
): Promise<JobStep> {
  const { destinationId, ...range } = job.asked as NewReplay;
  const { at } = job.position as Position;
  const position = job.position;
  if (isCellGone(side.events, at)) return { position, problem: CELL_GONE };
  const room = ahead.room(await feeder.untried(destinationId)) * MAX_DELIVERIES;
  if (room === 0) {
    return { position, problem: 'the destination has not caught up with what waits for it' };
  }
  const tally = openTally(routing);
  const scan = { range: { ...range, destinationId }, at, most: Math.min(most, room), isWanted: tally.isDelivered };
  const { found, next } = await scanOn(side.events, scan);
  const deliveries = found.map(({ event, order }) => ({
    ...newDelivery(deliveryId(destinationId, range.sourceId, event.messageId), event, now().getTime()),
    ...(routing.isComputed && { sourceId: range.sourceId }),
    order,
    replayId: job.id,
  }));
  ahead.fed(Math.ceil(deliveries.length / MAX_DELIVERIES));
  const fed = await feeder.feed(destinationId, deliveries);
  if (fed !== 'stored') return { position, problem: fed === 'full' ? 'the lane is full' : 'NATS does not answer' };
  const step = { done: found.length, skipped: tally.skipped };
  if (next === undefined) return { ...step, ...gone(job, found.length), position: { phase: 'replay' }, end: 'done' };
  return { ...step, position: { phase: 'replay', at: next } };
}

/** The replay waits until the cell is named again: another one has other events at this place. */
const CELL_GONE = 'it has come to a cell that MILLRACE_CELLS does not name';

function isCellGone(reader: EventReader, at: Position['at']): boolean {
  return at !== undefined && loadStream(reader, at.stream) === undefined;
}

/** From a place that was saved to one that can be. */
async function scanOn(reader: EventReader, { at, ...scan }: EventScan): Promise<EventsScanned> {
  const { cells } = reader;
  const from = at && { ...at, stream: loadStream(reader, at.stream) ?? 0 };
  const { found, next } = await scanEvents(reader, { ...scan, at: from });
  return { found, next: cells && next ? { ...next, stream: cells.save(next.stream) } : next };
}

/** Since the count, events may have expired or been evicted, or newer rules may withhold them. */
function gone({ done, total }: JobRow, doneNow: number): Pick<JobStep, 'problem'> {
  const missing = (total ?? 0) - done - doneNow;
  return missing > 0 ? { problem: `${missing} of the events counted were not stored any more, or not wanted` } : {};
}
