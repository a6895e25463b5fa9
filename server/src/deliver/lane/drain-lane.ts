import type { Logger } from '../../log.ts';
import type { ConfigView } from '../../stream/config/config-bucket.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { route } from '../../domain/route-event.ts';
import { routingOf } from '../attempt/routing-of.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { drainSome, type DrainedSome, type SliceNeeds } from './drain-slice.ts';
import { type Gate, isShut, isUnknown, isWorking } from '../dispatch/gate.ts';
import { watchProgress } from './drain-progress.ts';
import { forgetEmptyPlaces, type LaneNote, moveHome, notePosition, readLaneNote } from './lane-note.ts';
import { LEAST_PAUSE_MS, LEFT_FOR_MS, openReaders, SLICE_MS } from './lane-readers.ts';
import type { Parked, Parkers } from '../settle/park.ts';
import type { LaneReports } from './lane-reports.ts';
import { JITTER, type RetrySchedule, RETRY_DELAYS_MS } from '../attempt/retry-schedule.ts';
import type { TierReader } from './tier-reader.ts';
import { isErasedIn, scrubLane } from './scrub-lane.ts';
import { lookAtMissing } from './look-at-missing.ts';
import type { Settlement, Skipped } from '../settle/settle.ts';
import type { Webhook, WebhookOf } from '../attempt/webhook.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type DrainNeeds = Pick<DeliverySide, 'lanes' | 'tickets'> & {
  config: ConfigView;
  webhookOf: WebhookOf;
  dispatcher: Dispatcher;
  settle: SliceNeeds['settle'];
  expire: SliceNeeds['expire'];
  erase: SliceNeeds['erase'];
  skip: SliceNeeds['skip'];
  abandon: Settlement['abandon'];
  reports: LaneReports;
  takeParked: Parkers['takeParked'];
  schedule: RetrySchedule;
  isStopping(): boolean;
  /** By the engine's clock: when lanes and deliveries are due. */
  now(): number;
  /** Monotonic: how long a look takes. */
  uptimeMs(): number;
  random(): number;
  log: Logger;
};

/** How often a paused lane is looked at if nobody resumes it. */
export const PAUSED_LOOK_MS = 300_000;
/** The same for one that only a newer process can read: it gets its chance soon. */
export const FOR_NEWER_LOOK_MS = 15_000;
const TROUBLE_PAUSE_MS = 5_000;
/** What is in a lane is asked anew at least this often. */
const KNOWN_FOR_MS = 20_000;

/** What the holder of a ticket does with it: looks at the lane, attempts what may be attempted, gives the ticket back. */
export async function drainLane(ticket: HeldTicket, needs: DrainNeeds): Promise<void> {
  const { destinationId } = ticket;
  const note = readLaneNote(ticket.note);
  const giveBack = (dueAt: number) => {
    const gate = needs.dispatcher.gateOf(destinationId);
    const isUrgent = isUnknown(gate) ? ticket.isUrgent : isWorking(gate, needs.now());
    return ticket.giveBack({ dueAt, isUrgent, note: JSON.stringify(note) });
  };
  const dueAt = await lookAt(ticket, note, needs).catch((error: unknown) => {
    // The engine is in trouble. The ticket comes back by itself, if it cannot be given back.
    needs.log.warn({ destinationId, error: String(error) }, 'lane.failed');
    return needs.now() + TROUBLE_PAUSE_MS;
  });
  if (dueAt === undefined || (await giveBack(dueAt))) return;
  // The lease was over, or the ticket had been ended already, and what came meanwhile relied on it. What we put into the lane as
  // its holder needs a ticket by then. One too many does no harm.
  if (ticket.isLost()) needs.log.warn({ destinationId }, 'lease.lost');
  await whenAvailable(() => needs.tickets.ensure(destinationId, { dueAt, hurry: true }));
}

/** Resolves with the time of the next look, or undefined when the ticket is no more. */
async function lookAt(ticket: HeldTicket, note: LaneNote, needs: DrainNeeds): Promise<number | undefined> {
  const { destinationId } = ticket;
  const destination = needs.config.destination(destinationId);
  if (destination === undefined)
    return lookAtMissing(ticket, note, { ...needs, isLost: ticket.isLost, close: () => close(ticket, needs) });
  delete note.missingSince;
  note.owner = { workspaceId: destination.workspaceId, sourceId: destination.sourceId };
  const webhook = needs.webhookOf(destination);
  const counts = await needs.lanes.count(destinationId);
  if (counts.size === 0) return close(ticket, needs);
  moveHome(note, needs.lanes.home(destinationId), needs.lanes.isOnlyHome(destinationId));
  forgetEmptyPlaces(note, counts);
  await scrubLane({ webhook, note, counts }, needs);
  const readers = openReaders(destinationId, note, { ...needs, counts });
  try {
    return await lookInto(ticket, { webhook, note, readers, counts, isEnabled: destination.enabled }, needs);
  } finally {
    // Also when the engine failed us half-way: what is done with must not be sent again.
    for (const reader of readers) notePosition(note, reader.tier, { ...reader.position(), at: reader.stamp() });
  }
}

type LookInto = Look & { counts: ReadonlyMap<number, number>; isEnabled: boolean };

async function lookInto(ticket: HeldTicket, look: LookInto, needs: DrainNeeds): Promise<number | undefined> {
  const { webhook, note, readers, counts, isEnabled } = look;
  const { now } = needs;
  if (!webhook.isPaused && isEnabled) return drainOpen(ticket, look, needs);
  if (!webhook.isPaused) await expireOnly(readers, webhook, { ...needs, isLost: ticket.isLost });
  for (const reader of readers) await reader.drop();
  const nextAt = now() + (webhook.isForNewer ? FOR_NEWER_LOOK_MS : PAUSED_LOOK_MS);
  needs.reports.report(webhook, { note, counts, state: 'paused', nextAt });
  return nextAt;
}

type Look = { webhook: Webhook; note: LaneNote; readers: TierReader[] };

async function drainOpen(ticket: HeldTicket, look: LookInto, needs: DrainNeeds): Promise<number | undefined> {
  const { webhook, note, readers } = look;
  const { dispatcher, now, uptimeMs, reports } = needs;
  const { destinationId } = webhook;
  const gate = dispatcher.gateOf(destinationId);
  const startedAt = uptimeMs();
  const mode = isShut(gate, now()) ? 'probe' : 'drain';
  if (gate.shut?.until !== undefined) return reportAndWait(look, gate.shut.until, needs);
  // Left over by a look that failed: the count that this one began with has it.
  needs.takeParked(destinationId);
  const progress = watchProgress(webhook, note, needs);
  const result = await drainSome({
    ...needs,
    isErased: isErasedIn(needs.config, webhook),
    skipOf: (delivery) => skipOf(delivery, webhook, needs),
    webhook: () => readyWebhook(destinationId, needs),
    readers,
    mode,
    untilAt: startedAt + SLICE_MS,
    passed: progress.passed,
    isLost: ticket.isLost,
  });
  for (const reader of readers) await reader.drop();
  const parked = needs.takeParked(destinationId);
  // Another holder tells how the lane is; what we parked is looked at in time.
  if (ticket.isLost()) return Math.min(parked?.dueAt ?? Infinity, now() + TROUBLE_PAUSE_MS);
  const counts = isKnownFrom(parked, result, now()) ? countsWith(look, parked) : await needs.lanes.count(destinationId);
  if (counts.size === 0) return close(ticket, needs);
  progress.measure(result.left);
  const nextAt = nextLook({ gate, note, result, counts, parked }, needs);
  reports.report(webhook, { note, counts, nextAt, ...(result.isCutShort && !gate.shut ? { state: 'draining' } : {}) });
  return nextAt;
}

type After = Pick<Look, 'note'> & {
  gate: Gate;
  result: DrainedSome;
  counts: ReadonlyMap<number, number>;
  parked: Parked | undefined;
};

/**
 * Nothing got through, and what was attempted went back into the lane: then we know what is in it. What others parked meanwhile
 * they see to themselves, as a rule: they found the ticket held, and ask for it again. If they cannot, the next look is near.
 */
function isKnownFrom(parked: Parked | undefined, { left }: DrainedSome, now: number): parked is Parked {
  return parked !== undefined && left === 0 && parked.dueAt < now + KNOWN_FOR_MS;
}

/** What is in the lane after this look, without a question to the engine. */
function countsWith({ readers, counts }: LookInto, parked: Parked): Map<number, number> {
  const left = new Map(counts);
  for (const reader of readers) left.set(reader.tier, (counts.get(reader.tier) ?? 0) - reader.done());
  for (const [tier, groups] of parked.groups) left.set(tier, (left.get(tier) ?? 0) + groups);
  return new Map([...left].filter(([, groups]) => groups > 0));
}

function nextLook(after: After, needs: DrainNeeds): number {
  const { gate, note, result } = after;
  const now = needs.now();
  const soon = now + LEAST_PAUSE_MS;
  const dueAt = firstDue(after, now) ?? soon;
  if (!isShut(gate, now)) {
    note.failedProbes = 0;
    return Math.max(dueAt, soon);
  }
  if (gate.shut?.until !== undefined) return gate.shut.until;
  // Those whose time is over need no receiver: there were more than this look had time for.
  if (result.attempted === 0 && result.left > 0 && result.isCutShort) return soon;
  note.failedProbes += result.attempted > 0 ? 1 : 0;
  const step = Math.min(Math.max(note.failedProbes, 1), RETRY_DELAYS_MS.length);
  const delayMs = needs.schedule.delayMs(step) * (1 + JITTER * needs.random());
  return Math.max(now + delayMs, dueAt);
}

/** When the first delivery in the lane is due; undefined when there is one that this look neither saw nor parked. */
function firstDue({ result, counts, parked }: After, now: number): number | undefined {
  const { seen, newer } = result;
  const isUnseen = ([tier, groups]: [number, number]) =>
    !seen.has(tier) && !newer.has(tier) && groups > (parked?.groups.get(tier) ?? 0);
  if ([...counts].some(isUnseen)) return undefined;
  const lookAgainAt = newer.size > 0 ? now + LEFT_FOR_MS : Infinity;
  return Math.min(result.nextDueAt ?? Infinity, parked?.dueAt ?? Infinity, lookAgainAt);
}

/** By the rules as they are now: what was not understood when it came is routed as if it came now. */
function skipOf(
  { event }: Delivery,
  { destinationId, sourceId }: Webhook,
  { config }: DrainNeeds,
): Skipped | undefined {
  const destination = config.destination(destinationId);
  if (destination === undefined || event.type === 'delete') return undefined;
  const [routed] = route(event, { ...routingOf(config, sourceId), destinations: [destination] });
  return routed?.kind === 'skip' ? routed : undefined;
}

/** Settings may change while a lane drains: what is sent next is sent by the new ones. */
function readyWebhook(destinationId: string, { config, webhookOf }: DrainNeeds): Webhook | undefined {
  const destination = config.destination(destinationId);
  if (destination === undefined || !destination.enabled) return undefined;
  const webhook = webhookOf(destination);
  return webhook.isPaused ? undefined : webhook;
}

function reportAndWait({ webhook, note, counts }: LookInto, until: number, needs: DrainNeeds): number {
  const nextAt = until + needs.random() * LEAST_PAUSE_MS;
  needs.reports.report(webhook, { note, counts, nextAt });
  return nextAt;
}

/** A destination that is switched off: what waits goes on waiting, until its time is over. */
function expireOnly(
  readers: TierReader[],
  webhook: Webhook,
  needs: DrainNeeds & Pick<SliceNeeds, 'isLost'>,
): Promise<DrainedSome> {
  const untilAt = needs.uptimeMs() + SLICE_MS;
  const isErased = isErasedIn(needs.config, webhook);
  return drainSome({
    ...needs,
    isErased,
    skipOf: (delivery) => skipOf(delivery, webhook, needs),
    webhook: () => webhook,
    readers,
    untilAt,
    mode: 'expire',
    passed: async () => undefined,
  });
}

/** Nothing waits any more. What came while we looked found a ticket in place and made none, so we look once more. */
async function close(ticket: HeldTicket, needs: DrainNeeds): Promise<undefined> {
  const { destinationId } = ticket;
  await ticket.end();
  needs.reports.cleared(destinationId);
  const counts = await needs.lanes.count(destinationId);
  const wanted = { dueAt: needs.now(), hurry: true };
  if (counts.size > 0) await whenAvailable(() => needs.tickets.ensure(destinationId, wanted));
}
