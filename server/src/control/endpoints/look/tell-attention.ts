/** Turns facts about lanes, dead letters and sources into sentences for people, each with its next step. Pure. */
import type { Attention } from '@millrace/contract/control';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import { giveUpAt } from '../../../domain/delivery.ts';
import type { DestinationBrief } from '../../../store/destinations.ts';
import type { RecentRefusals } from '../../../store/refusals.ts';
import type { QuietSource } from '../../../store/slot-counts.ts';
import type { WaitingRow } from '../../../store/waiting-deliveries.ts';

/** A lane with this many deliveries, or one that gives up this soon, is worth a look although its receiver works. */
const DEEP = 1_000;
const SOON_MS = 3_600_000;

/** `windowMs` is the window of the retry schedule. */
export type TellTimes = { now: Date; windowMs: number };
export type TroubledLane = { lane: LaneHealth; destination: DestinationBrief; oldest: WaitingRow | undefined };

/** Undefined for a lane in which deliveries wait for their time as they should. */
export function tellLane(told: TroubledLane, times: TellTimes): Attention | undefined {
  const { lane, destination } = told;
  const { state, depth } = lane;
  if (destination.paused_at !== null)
    return depth === 0 ? undefined : tellPaused(destination, `${depthText(depth)} for it`);
  if (!destination.enabled) return depth === 0 ? undefined : tellDisabled(told, times);
  if (state === 'failing') return tellFailing(told, times);
  if (state === 'asked_to_wait') return tellAskedToWait(told, times);
  const end = endOf(told, times);
  const isLate = end !== undefined && end.getTime() - times.now.getTime() < SOON_MS;
  return depth >= DEEP || (depth > 0 && isLate) ? tellBacklog(told, times) : undefined;
}

function tellFailing(told: TroubledLane, times: TellTimes): Attention {
  const { lane, destination } = told;
  const probe = lane.nextAt === undefined ? '' : ` The next probe is at ${lane.nextAt}.`;
  return {
    kind: 'destination_failing',
    severity: 'critical',
    sentence: `"${destination.name}" has been failing since ${lane.since}${whyOf(lane)}. ${waitingText(told, times)}`,
    nextStep: `Repair the receiver: what waits is then sent by itself.${probe}`,
    ...of(told),
  };
}

function tellAskedToWait(told: TroubledLane, times: TellTimes): Attention {
  const { lane, destination } = told;
  const until = lane.nextAt === undefined ? '' : ` until ${lane.nextAt}`;
  return {
    kind: 'destination_asked_to_wait',
    severity: 'warning',
    sentence: `The receiver of "${destination.name}" asked us to wait${until}${whyOf(lane)}. ${waitingText(told, times)}`,
    nextStep: 'Wait, or set maxPerSecond of the destination to what its receiver can take.',
    ...of(told),
  };
}

/** A destination that was paused before anything waited: deliver has not looked at its lane yet, and only the record knows. */
export function tellPausedUnseen(destination: DestinationBrief, oldest: WaitingRow): Attention {
  return tellPaused(destination, `Deliveries wait for it since ${oldest.received_at.toISOString()}`);
}

function tellPaused(
  { id, source_id: sourceId, name, paused_at: pausedAt }: DestinationBrief,
  waiting: string,
): Attention {
  const since = pausedAt === null ? {} : { since: pausedAt.toISOString() };
  return {
    kind: 'destination_paused',
    severity: 'warning',
    sentence: `"${name}" is paused. ${waiting}, and their four hours stand still. Nothing waits for longer than eight days.`,
    nextStep: 'Resume the destination when its receiver is ready.',
    destinationId: id,
    sourceId,
    ...since,
  };
}

function tellDisabled(told: TroubledLane, times: TellTimes): Attention {
  return {
    kind: 'destination_disabled',
    severity: 'warning',
    sentence: `"${told.destination.name}" is not enabled, and still has a backlog. ${waitingText(told, times)}`,
    nextStep: 'Enable the destination to have the backlog sent, or let it be given up.',
    ...of(told),
  };
}

function tellBacklog(told: TroubledLane, times: TellTimes): Attention {
  const { lane, destination } = told;
  const clear = lane.clearInMs === undefined ? '' : ` At this rate it takes ${durationText(lane.clearInMs)} to clear.`;
  return {
    kind: 'destination_backlog',
    severity: 'warning',
    sentence: `"${destination.name}" has a backlog since ${lane.since}. ${waitingText(told, times)}${clear}`,
    nextStep: 'Let the receiver take more at a time, or raise maxConcurrency and maxPerSecond of the destination.',
    ...of(told),
  };
}

export function tellLetters(destination: DestinationBrief, count: number): Attention {
  const letters = count === 1 ? 'One dead letter of' : `${count} dead letters of`;
  return {
    kind: 'dead_letters',
    severity: 'warning',
    sentence: `${letters} "${destination.name}" ${count === 1 ? 'waits' : 'wait'} to be sent again. Each is kept for 14 days.`,
    nextStep: 'Look at why they were given up, repair that, and redrive them.',
    destinationId: destination.id,
    sourceId: destination.source_id,
  };
}

export function tellRefusals({
  source_id: sourceId,
  name,
  code,
  count,
  last_at: lastAt,
  message,
}: RecentRefusals): Attention {
  const calls = Number(count) === 1 ? 'one call' : `${count} calls`;
  return {
    kind: 'source_refusals',
    severity: 'warning',
    sentence: `Source "${name}" had ${calls} refused in a day as ${code}, the last at ${lastAt.toISOString()}${message === null ? '.' : `: ${message}`}`,
    nextStep: 'Look at the samples of its refused calls, and change the code that sends them.',
    sourceId,
  };
}

export function tellQuiet(
  { id: sourceId, name, calls, last_used_at: lastUsedAt }: QuietSource,
  minutes: number,
): Attention {
  const last = lastUsedAt === null ? '' : ` Its last call came at ${lastUsedAt.toISOString()}.`;
  return {
    kind: 'source_quiet',
    severity: 'warning',
    sentence: `Source "${name}" sent no call in the last ${minutes} minutes, and ${calls} at the same time yesterday.${last}`,
    nextStep: 'Check that the site or app still sends, with a write key that is not revoked.',
    sourceId,
    ...(lastUsedAt === null ? {} : { since: lastUsedAt.toISOString() }),
  };
}

function of({ lane, destination }: TroubledLane) {
  return { destinationId: destination.id, sourceId: destination.source_id, since: lane.since };
}

function whyOf({ why }: LaneHealth): string {
  return why === undefined || why === '' ? '' : ` (${why})`;
}

/** How many wait, and when the first of them is given up. */
function waitingText(told: TroubledLane, times: TellTimes): string {
  const { lane, oldest } = told;
  const end = endOf(told, times)?.toISOString();
  if (lane.depth === 0 || end === undefined) return `${depthText(lane.depth)}.`;
  const isTried = oldest?.first_attempt_at !== null;
  const given = isTried ? `given up at ${end} and kept as a dead letter` : `not given up before ${end}`;
  return `${depthText(lane.depth)}; the oldest is ${given}.`;
}

/**
 * Undefined when the record does not know it: a replay begins a new window, and the row keeps its first attempt. The window of
 * a delivery without an attempt begins when deliver takes it, which is later than it was received: after an outage of deliver,
 * hours later. So an end that has passed says nothing.
 */
function endOf({ oldest, destination }: TroubledLane, { now, windowMs }: TellTimes): Date | undefined {
  if (oldest === undefined || oldest.replay_id !== null) return undefined;
  const begun = {
    takenAt: oldest.received_at.getTime(),
    ...(oldest.first_attempt_at === null ? {} : { firstAttemptAt: oldest.first_attempt_at.getTime() }),
  };
  const end = new Date(giveUpAt(begun, windowMs, destination.resumed_at?.getTime()));
  return end > now ? end : undefined;
}

function depthText(depth: number): string {
  return depth === 0 ? 'Nothing waits' : depth === 1 ? 'One delivery waits' : `${depth} deliveries wait`;
}

function durationText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
