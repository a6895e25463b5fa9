/**
 * The holder of a ticket looks at its lane: deliveries that are due are attempted, and the ticket is given back for the time of
 * the next look, or ended when the lane is empty. A lane is
 *
 * - draining: the gate is open, and due deliveries are attempted for one slice of time;
 * - probed: the gate is shut by failures, and one attempt tells whether the receiver is back;
 * - waiting: the receiver asked for it, or nothing is due;
 * - paused or switched off: deliveries stay (switched off, they expire);
 * - missing: the destination was deleted, and its deliveries are abandoned (`look-at-missing.ts`).
 *
 * The gate and the configuration decide which; only the holder acts on it. If the holder crashes, its lease ends and NATS gives
 * the ticket to another process.
 */
import type { Logger } from '../../log.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { routeEvent } from '../../domain/route-event.ts';
import { routingOf } from '../attempt/routing-of.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { drainSome, type DrainedSome, type SliceNeeds } from './drain-slice.ts';
import { isShut, isUnknown, isWorking, quietUntil } from '../dispatch/gate.ts';
import { watchProgress } from './drain-progress.ts';
import { forgetEmptyPlaces, moveHome, notePosition, readLaneNote } from './lane-note.ts';
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
  config: DeliverConfig;
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
  /** By the clock of NATS: when lanes and deliveries are due. */
  now(): number;
  /** Monotonic: how long a look takes. */
  uptimeMs(): number;
  random(): number;
  log: Logger;
};

/** How often a paused lane is looked at until it is resumed. */
export const PAUSED_LOOK_MS = 300_000;
/** The same for a lane that only a newer process can read: that process gets its chance soon. */
export const FOR_NEWER_LOOK_MS = 15_000;
const TROUBLE_PAUSE_MS = 5_000;
/** NATS is asked at least this often what is in a lane. */
const KNOWN_FOR_MS = 20_000;

type Look = { webhook: Webhook; readers: TierReader[]; counts: ReadonlyMap<number, number> };

// oxlint-disable-next-line max-lines-per-function -- its parts share the ticket and its note
export async function drainLane(ticket: HeldTicket, needs: DrainNeeds): Promise<void> {
  const { config, webhookOf, dispatcher, lanes, tickets, reports, takeParked, schedule, now, uptimeMs, log } = needs;
  const { destinationId, isLost } = ticket;
  const note = readLaneNote(ticket.note);
  /** Kept for the next look only when this one had no time for all of it. */
  let { hurry } = ticket;

  /** Resolves with the time of the next look, or undefined when the ticket is no more. */
  async function lookAt(): Promise<number | undefined> {
    const destination = config.destination(destinationId);
    if (destination === undefined) return lookAtMissing(ticket, note, { ...needs, isLost, close });
    delete note.missingSince;
    note.owner = { workspaceId: destination.workspaceId, sourceId: destination.sourceId };
    const webhook = webhookOf(destination);
    const counts = await lanes.count(destinationId);
    if (counts.size === 0) return close();
    moveHome(note, lanes.home(destinationId), lanes.isOnlyHome(destinationId));
    forgetEmptyPlaces(note, counts);
    await scrubLane({ webhook, note, counts }, needs);
    const readers = openReaders(destinationId, note, { ...needs, counts });
    const look = { webhook, readers, counts };
    try {
      return !webhook.isPaused && destination.enabled ? await drainOpen(look) : await keepWaiting(look);
    } finally {
      // Also when NATS failed half-way: deliveries that are done must not be sent again.
      for (const reader of readers) notePosition(note, reader.tier, { ...reader.position(), at: reader.stamp() });
    }
  }

  /** The destination is paused, or switched off: then deliveries still expire. */
  async function keepWaiting({ webhook, readers, counts }: Look): Promise<number> {
    hurry = undefined;
    if (!webhook.isPaused) await drain(webhook, readers, { webhook: () => webhook, mode: 'expire', passed: nothing });
    for (const reader of readers) await reader.drop(true);
    const nextAt = now() + (webhook.isForNewer ? FOR_NEWER_LOOK_MS : PAUSED_LOOK_MS);
    reports.report(webhook, { note, counts, state: 'paused', nextAt });
    return nextAt;
  }

  async function drainOpen(look: Look): Promise<number | undefined> {
    const { webhook, readers } = look;
    const gate = dispatcher.gateOf(destinationId);
    const mode = isShut(gate, now()) ? 'probe' : 'drain';
    const askedUntil = quietUntil(gate, now());
    if (askedUntil !== undefined) {
      hurry = undefined;
      const nextAt = askedUntil + needs.random() * LEAST_PAUSE_MS;
      reports.report(webhook, { note, counts: look.counts, nextAt });
      return nextAt;
    }
    // Left over by a look that failed: the count that this one began with has it.
    takeParked(destinationId);
    const progress = watchProgress(webhook, note, needs);
    const result = await drain(webhook, readers, { webhook: readyWebhook, mode, hurry, passed: progress.passed });
    for (const reader of readers) await reader.drop(true);
    const parked = takeParked(destinationId);
    // Another holder reports on the lane; this one only makes sure that its own parked deliveries are looked at in time.
    if (isLost()) return Math.min(parked?.dueAt ?? Infinity, now() + TROUBLE_PAUSE_MS);
    const counts = isKnownFrom(parked, result, now()) ? countsWith(look, parked) : await lanes.count(destinationId);
    if (counts.size === 0) return close();
    progress.measure(result.left);
    const nextAt = nextLook(result, firstDue(result, counts, parked, now()));
    if (!result.isHurryLeft || isShut(gate, now())) hurry = undefined;
    const state = result.isCutShort && !gate.shut ? ({ state: 'draining' } as const) : {};
    reports.report(webhook, { note, counts, nextAt, ...state });
    return nextAt;
  }

  type Slice = Pick<SliceNeeds, 'webhook' | 'mode' | 'hurry' | 'passed'>;

  function drain(webhook: Webhook, readers: TierReader[], slice: Slice): Promise<DrainedSome> {
    const isErased = isErasedIn(config, webhook);
    const skipOf = (delivery: Delivery) => rejects(delivery, webhook);
    return drainSome({ ...needs, ...slice, isErased, skipOf, readers, untilAt: uptimeMs() + SLICE_MS, isLost });
  }

  /** By the filters as they are now: a delivery that was parked undecided is routed as if it came now. */
  function rejects({ event, sourceId }: Delivery, webhook: Webhook): Skipped | undefined {
    const destination = config.destination(destinationId);
    if (destination === undefined || event.type === 'delete') return undefined;
    const computed = { workspaceId: webhook.workspaceId, destinations: [destinationId] };
    const routing =
      sourceId === undefined ? routingOf(config, webhook.sourceId) : routingOf(config, sourceId, computed);
    const [routed] = routeEvent(event, { ...routing, destinations: [destination] });
    return routed?.kind === 'skip' ? routed : undefined;
  }

  /** Settings may change while a lane drains: the next attempt follows the new ones. */
  function readyWebhook(): Webhook | undefined {
    const destination = config.destination(destinationId);
    if (destination === undefined || !destination.enabled) return undefined;
    const webhook = webhookOf(destination);
    return webhook.isPaused ? undefined : webhook;
  }

  function nextLook({ attempted, left, isCutShort }: DrainedSome, firstDueAt: number | undefined): number {
    const gate = dispatcher.gateOf(destinationId);
    const soon = now() + Math.max(LEAST_PAUSE_MS, turnInMs());
    const dueAt = firstDueAt ?? soon;
    if (!isShut(gate, now())) {
      note.failedProbes = 0;
      return Math.max(dueAt, soon);
    }
    if (gate.shut?.until !== undefined) return gate.shut.until;
    // Expired deliveries need no receiver: there were more than this look had time for.
    if (attempted === 0 && left > 0 && isCutShort) return soon;
    // A probe that a person asked for does not make the next one later; it replaces one whose time has come meanwhile.
    const plannedAt = hurry?.plannedAt ?? 0;
    const isEarly = plannedAt > now();
    note.failedProbes += attempted > 0 && !isEarly ? 1 : 0;
    const step = Math.min(Math.max(note.failedProbes, 1), RETRY_DELAYS_MS.length);
    const delayMs = schedule.delayMs(step) * (1 + JITTER * needs.random());
    const probeAt = isEarly ? Math.min(now() + delayMs, plannedAt) : now() + delayMs;
    return Math.max(probeAt, dueAt, quietUntil(gate, now()) ?? 0);
  }

  /** How long a host at its cap makes the lane wait. */
  function turnInMs(): number {
    const webhook = readyWebhook();
    return webhook === undefined ? 0 : dispatcher.turnInMs(webhook);
  }

  /** Ends the ticket of an empty lane. A group that was parked meanwhile found a ticket in place: so the lane is counted again. */
  async function close(): Promise<undefined> {
    await ticket.end();
    reports.cleared(destinationId);
    const counts = await lanes.count(destinationId);
    if (counts.size > 0) await ensureTicket(now());
  }

  function ensureTicket(dueAt: number): Promise<unknown> {
    return whenAvailable(() => tickets.ensure(destinationId, { dueAt, hurry: true }));
  }

  function giveBack(dueAt: number): Promise<boolean> {
    const gate = dispatcher.gateOf(destinationId);
    // Lanes that wait for a busy host take no room from those that do not.
    const isUrgent = turnInMs() === 0 && (isUnknown(gate) ? ticket.isUrgent : isWorking(gate, now()));
    return ticket.giveBack({ dueAt, isUrgent, note: JSON.stringify(note), ...(hurry === undefined ? {} : { hurry }) });
  }

  const dueAt = await lookAt().catch((error: unknown) => {
    // NATS is in trouble. If the ticket cannot be given back, it comes back when the lease ends.
    log.warn({ destinationId, error: String(error) }, 'lane.failed');
    return now() + TROUBLE_PAUSE_MS;
  });
  if (dueAt === undefined || (await giveBack(dueAt))) return;
  // The lease was over, or the ticket had been ended already and groups parked meanwhile relied on it. The groups that this holder
  // parked need a ticket by then. A second ticket does no harm.
  if (isLost()) log.warn({ destinationId }, 'lease.lost');
  await ensureTicket(dueAt);
}

async function nothing(): Promise<void> {}

/**
 * No delivery left the lane, and all attempted ones went back into it: then the holder knows what is in it. Other processes that
 * parked meanwhile found the ticket held, and ask for it again; if they cannot, the next look is near.
 */
function isKnownFrom(parked: Parked | undefined, { left }: DrainedSome, now: number): parked is Parked {
  return parked !== undefined && left === 0 && parked.dueAt < now + KNOWN_FOR_MS;
}

/** The groups in each tier after this look, without asking NATS. */
function countsWith({ readers, counts }: Look, parked: Parked): Map<number, number> {
  const left = new Map(counts);
  for (const reader of readers) left.set(reader.tier, (counts.get(reader.tier) ?? 0) - reader.done());
  for (const [tier, groups] of parked.groups) left.set(tier, (left.get(tier) ?? 0) + groups);
  return new Map([...left].filter(([, groups]) => groups > 0));
}

/** When the first delivery in the lane is due; undefined when there is one that this look neither saw nor parked. */
function firstDue(
  { seen, newer, nextDueAt = Infinity }: DrainedSome,
  counts: ReadonlyMap<number, number>,
  parked: Parked | undefined,
  now: number,
): number | undefined {
  const isUnseen = ([tier, groups]: [number, number]) =>
    !seen.has(tier) && !newer.has(tier) && groups > (parked?.groups.get(tier) ?? 0);
  if ([...counts].some(isUnseen)) return undefined;
  const lookAgainAt = newer.size > 0 ? now + LEFT_FOR_MS : Infinity;
  return Math.min(nextDueAt, parked?.dueAt ?? Infinity, lookAgainAt);
}
