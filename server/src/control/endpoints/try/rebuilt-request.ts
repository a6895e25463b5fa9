import { RebuiltRequest, RebuiltRequestQuery } from '@millrace/contract/control';
import { type AttemptRow, attemptsOf } from '../../../store/attempts.ts';
import { type DeliveryRow, findDelivery } from '../../../store/deliveries.ts';
import { type DestinationRow, findDestination } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import type { OutcomeAnswer } from '../../../domain/outcome.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { deliverRoute, type EngineRequest, type Route } from '../../http/route.ts';
import { findEvent } from '../../jobs/find-event.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import { isAllowed } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { askDeliver, notDone } from './ask-deliver.ts';
import { mustHaveTarget } from './test-destination.ts';

export const rebuiltRequestRoutes: Route[] = [
  deliverRoute({
    method: 'GET',
    url: '/api/v1/deliveries/:id/request',
    summary: 'The request of a past attempt, rebuilt from the stored event and the present settings; sends nothing',
    query: RebuiltRequestQuery,
    answer: RebuiltRequest,
    permission: 'deliveries:read',
    alsoNeeds: 'sources:read',
    payloads: {},
    status: 200,
    async ask(request, needs) {
      const { actor, params, query, inWorkspace } = request;
      const { workspaceId } = actor;
      const { targetIndex = 0 } = query;
      const { row, destination, attempt, firstAt } = await inWorkspace((tx) =>
        readAttempt(tx, { workspaceId, id: params.id, attempt: query.attempt }),
      );
      mustHaveTarget(destination, targetIndex);
      const { event, order } = await readEvent(row, request, needs);
      const answer = await askDeliver(
        {
          kind: 'rebuild',
          workspaceId,
          destinationId: destination.id,
          updatedAt: destination.updated_at.toISOString(),
          targetIndex,
          event,
          order,
          deliveryId: row.id,
          at: attempt.at.getTime(),
          attempt: attempt.attempt,
          firstAttemptAt: firstAt.getTime(),
        },
        needs,
      );
      if (answer.kind !== 'rebuilt') throw notDone(answer);
      const mayDiffer = differences(attempt, destination);
      return {
        deliveryId: row.id,
        attempt: attempt.attempt,
        at: attempt.at.toISOString(),
        targetIndex,
        isRebuilt: true,
        wasPosted: attempt.answers.some(({ url }) => url === answer.request.url),
        mayDiffer,
        request: isAllowed('destinations:write', actor) ? answer.request : withoutSignatures(answer.request),
        sentence: sentenceFor(mayDiffer, othersIn(attempt)),
      };
    },
  }),
];

const SIGNATURES: ReadonlySet<string> = new Set(['webhook-signature', 'x-signature']);

/** `X-Signature` covers no time, so it is as good as a right to send this event again: readers of the record do not get it. */
function withoutSignatures(request: RebuiltRequest['request']): RebuiltRequest['request'] {
  const hide = (name: string, value: string | null) => (SIGNATURES.has(name.toLowerCase()) ? null : value);
  return { ...request, headers: request.headers.map(({ name, value }) => ({ name, value: hide(name, value) })) };
}

type Wanted = { workspaceId: string; id: string; attempt: number | undefined };
type Recorded = { row: DeliveryRow; destination: DestinationRow; attempt: AttemptRow; firstAt: Date };

async function readAttempt(tx: Tx, { workspaceId, id, attempt }: Wanted): Promise<Recorded> {
  const row = found(await findDelivery(tx, workspaceId, id));
  if (row.is_erased) throw gone('Its user was erased, and the event with it.');
  const destination = await findDestination(tx, workspaceId, row.destination_id);
  if (destination === undefined) throw gone('The destination was deleted, and its settings with it.');
  const all = await attemptsOf(tx, workspaceId, [row.id]);
  // A replay counts its attempts from 1 again: the latest is meant.
  const one = all.findLast((each) => attempt === undefined || each.attempt === attempt);
  if (one === undefined) {
    const which = attempt === undefined ? 'an attempt' : `attempt ${attempt}`;
    throw new ApiProblem('not_found', [{ path: '/attempt', message: `the record has not ${which} of this delivery` }]);
  }
  const first = all.find((each) => each.replay_id === one.replay_id);
  const firstAt = one.replay_id === null ? (row.first_attempt_at ?? one.at) : (first?.at ?? one.at);
  return { row, destination, attempt: one, firstAt };
}

async function readEvent(row: DeliveryRow, { actor, inWorkspace }: EngineRequest, { side }: ControlNeeds) {
  const { workspaceId } = actor;
  const { source_id: sourceId, message_id: messageId, received_at } = row;
  const sought = { sourceId, messageId, receivedAt: received_at.getTime() };
  const search = await askEngine(findEvent(side.events, sought));
  if (search.kind === 'gone') throw gone('Stored events are kept for MILLRACE_RETENTION (72 hours unless set).');
  if (search.kind === 'unsure') {
    const message =
      'more events came at that time than are looked through: search for it with GET /api/v1/stored-events';
    throw new ApiProblem('not_found', [{ path: '/', message }]);
  }
  const { event, order } = search;
  const isShown = await inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, [event]));
  if (!isShown(event)) throw gone('Its user was erased or is suppressed.');
  return { event, order };
}

/** Any change of the destination counts: the record does not say which settings an attempt had. */
function differences({ at }: AttemptRow, { updated_at }: DestinationRow): string[] {
  if (updated_at <= at) return [];
  return [
    'the URL and the headers of the target',
    'the signatures, which the present secret makes for the time of the attempt',
    'the format of the body',
    'the time until which Millrace tries',
  ];
}

/** The events that were in the same request; the record has them, each in a delivery of its own. */
function othersIn({ answers }: AttemptRow): number {
  return Math.max(1, ...(answers as OutcomeAnswer[]).map(({ events = 1 }) => events)) - 1;
}

function sentenceFor(mayDiffer: readonly string[], others: number): string {
  const alone = others === 0 ? '' : ` (without the ${others} other events of its batch)`;
  const rebuilt = `Rebuilt from the stored event${alone} and the present settings of the destination`;
  if (mayDiffer.length === 0) return `${rebuilt}, which has not changed since the attempt.`;
  return `${rebuilt}, which has changed since the attempt. These may have been different: ${mayDiffer.join('; ')}.`;
}

function gone(message: string): ApiProblem {
  return new ApiProblem('event_gone', [{ path: '/', message }]);
}
