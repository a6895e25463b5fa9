/** A person wants an attempt before its time. Control makes the lane's ticket due now; deliver attempts as it always does. */
import { AttemptNow, RetryNow } from '@millrace/contract/control';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import type { Hurry } from '../../../domain/read-ticket.ts';
import { type DeliveryRow, findDelivery } from '../../../store/deliveries.ts';
import { type DestinationRow, findDestination } from '../../../store/destinations.ts';
import { countAhead } from '../../../store/waiting-deliveries.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

/** Of one destination, so that a receiver in trouble is not hammered. */
const EVERY_MS = 5_000;
const PER_MINUTE_OF_WORKSPACE = 60;
const MOST_COUNTED = 1_000;
const TICKET_AFTER_MS = 5_000;

export const attemptNowRoutes: Route[] = [
  engineRoute({
    method: 'POST',
    url: '/api/v1/destinations/:id/probe',
    summary:
      'Makes the next attempt of a destination’s waiting deliveries now: the probe of an open circuit breaker too',
    answer: AttemptNow,
    permission: 'destinations:write',
    status: 200,
    async ask({ actor: { workspaceId }, params, inWorkspace }, needs) {
      const lane = needs.laneOf(params.id);
      const destination = await inWorkspace(async (tx, audit) => {
        const row = found(await findDestination(tx, workspaceId, params.id));
        mustBeSendable(row, lane, needs.side.now());
        mustNotBeTooSoon(row, needs);
        await audit('destination.probed', row.id);
        return row;
      });
      const effect = await hurry(destination.id, {}, needs);
      return { destinationId: destination.id, effect, ...tell(effect, lane, 'the delivery that is first in line') };
    },
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/deliveries/:id/retry',
    summary: 'Attempts a delivery that waits now, after those of its destination that are due before it',
    answer: RetryNow,
    permission: 'destinations:write',
    status: 200,
    async ask({ actor: { workspaceId }, params, inWorkspace }, needs) {
      const { row, lane, ...line } = await inWorkspace(async (tx, audit) => {
        const row = found(await findDelivery(tx, workspaceId, params.id));
        mustWait(row);
        const lane = needs.laneOf(row.destination_id);
        const destination = await findDestination(tx, workspaceId, row.destination_id);
        if (destination === undefined) throw notWaiting('The destination was deleted: nothing is sent to it any more.');
        mustBeSendable(destination, lane, needs.side.now());
        mustNotBeTooSoon(destination, needs);
        await audit('delivery.retried', row.id, { details: { destinationId: destination.id } });
        return { row, lane, ...(await countAhead(tx, row, MOST_COUNTED)) };
      });
      const { id: deliveryId, destination_id: destinationId } = row;
      const upTo = Math.max(row.next_at?.getTime() ?? 0, needs.side.now());
      const effect = await hurry(destinationId, { upTo }, needs);
      return { deliveryId, destinationId, effect, ...line, ...tell(effect, lane, placeInLine(line)) };
    },
  }),
];

function mustWait({ state }: DeliveryRow): void {
  switch (state) {
    case 'pending':
    case 'retrying':
      return;
    case 'delivered':
      throw notWaiting('It is delivered. A replay sends its event again: POST /api/v1/replays.');
    case 'skipped':
      throw notWaiting(
        'It was not for this destination, so nothing waits. A replay decides anew: POST /api/v1/replays.',
      );
    case 'discarded':
    case 'expired':
      throw notWaiting(
        'It was given up. It can be retried as a dead letter: POST /api/v1/dead-letters/{id}/retry, with the id of GET /api/v1/dead-letters.',
      );
  }
}

function mustBeSendable({ enabled, paused_at }: DestinationRow, lane: LaneHealth | undefined, now: number): void {
  if (paused_at !== null) throw notWaiting('The destination is paused: resume it, and deliver sends what waits.');
  if (!enabled) throw notWaiting('The destination is not enabled: enable it first.');
  const isQuiet = lane?.quietUntil !== undefined && Date.parse(lane.quietUntil) > now;
  if (lane?.state !== 'asked_to_wait' && !isQuiet) return;
  const until = lane.quietUntil ?? lane.nextAt ?? 'a later time';
  throw notWaiting(`The receiver asked us to wait, until ${until}: deliver keeps to that.`);
}

function mustNotBeTooSoon({ workspace_id, id }: DestinationRow, { tries, now }: ControlNeeds): void {
  const slot = Math.floor(now().getTime() / EVERY_MS);
  // In this order: a destination that is asked about too often must not use up the requests of the others.
  const isFirst = tries?.take(`attempt-now ${id} ${slot}`, 1) !== false;
  const isFewEnough = isFirst && tries?.take(`attempt-now ${workspace_id}`, PER_MINUTE_OF_WORKSPACE) !== false;
  if (!isFewEnough) throw new ApiProblem('too_soon');
}

async function hurry(
  destinationId: string,
  upTo: Omit<Hurry, 'at'>,
  { side }: Pick<ControlNeeds, 'side'>,
): Promise<AttemptNow['effect']> {
  const wanted = { at: side.now(), ...upTo };
  const first = await side.tickets.hurry(destinationId, wanted);
  const hurried =
    first === 'none' && (await makeTicket(destinationId, side))
      ? await side.tickets.hurry(destinationId, wanted)
      : first;
  switch (hurried) {
    case 'hurried':
      return 'hurried';
    case 'held':
      return 'under_way';
    case 'none':
      throw notWaiting(
        'Nothing waits in the lane of the destination: an attempt is under way, or has just ended. Read it again.',
      );
    case 'unavailable':
      throw new ApiProblem('engine_unavailable');
  }
}

/** For a lane whose ticket was lost, or unreadable: deliver finds such lanes too, but not at once. False when nothing waits in it. */
async function makeTicket(destinationId: string, { lanes, tickets, now }: ControlNeeds['side']): Promise<boolean> {
  const counts = await askEngine(lanes.count(destinationId));
  if (counts.size === 0) return false;
  // A little later, because a ticket that is about to fire cannot be hurried any more.
  await tickets.ensure(destinationId, { dueAt: now() + TICKET_AFTER_MS, hurry: false });
  return true;
}

function tell(
  effect: AttemptNow['effect'],
  lane: LaneHealth | undefined,
  first: string,
): Pick<AttemptNow, 'isProbe' | 'sentence'> {
  const isProbe = lane?.state === 'failing';
  if (effect === 'under_way') {
    return { isProbe, sentence: 'Deliver is at work on the lane of this destination right now. Nothing was changed.' };
  }
  const probe = 'The circuit breaker is open: deliver makes one attempt now, with the delivery that is first in line';
  const sentence = isProbe
    ? `${probe}, and goes on with the others if the receiver takes it.`
    : `Deliver attempts ${first} now, as fast as the limits of the destination allow.`;
  return { isProbe, sentence };
}

function placeInLine({ ahead, isAheadExact }: Pick<RetryNow, 'ahead' | 'isAheadExact'>): string {
  if (ahead === 0) return 'this delivery';
  return `this delivery after ${isAheadExact ? '' : 'at least '}${ahead} of the same destination that ${ahead === 1 ? 'is' : 'are'} due before it`;
}

function notWaiting(message: string): ApiProblem {
  return new ApiProblem('not_waiting', [{ path: '/', message }]);
}
