import {
  DeadLetterDetails,
  type DeadLetterItem,
  DeadLetterItems,
  DeadLetterQuery,
  NewRedrive,
  Redrive,
  Redrives,
  RetriedLetter,
} from '@millrace/contract/control';
import { deliveryOfLetter } from '../../../domain/dead-letter.ts';
import { allDestinationIds, findDestination } from '../../../store/destinations.ts';
import { insertJob } from '../../../store/jobs.ts';
import type { Tx } from '../../../store/open-store.ts';
import { startedBy } from '../../access/actor.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { hideInLetter } from './hide-payloads.ts';
import { jobRoutes, toJob } from './job-routes.ts';
import { openLaneFeeder } from '../../jobs/feed-lane.ts';
import { withLetters } from '../../jobs/redrive.ts';
import { type NumberedLetter, type LetterPlace, readOrSetAside, scanLetters } from '../../jobs/scan-letters.ts';
import { newId } from '../../../store/new-id.ts';
import { cursorOf, readPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { engineRoute, type Route, route } from '../../http/route.ts';

const READ = { permission: 'dead-letters:read', status: 200 } as const;
const WRITE = { permission: 'dead-letters:write' } as const;

export const deadLetterRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/dead-letters',
    summary: 'Deliveries that were given up, by destination and then oldest first; a page may be short',
    query: DeadLetterQuery,
    answer: DeadLetterItems,
    ...READ,
    async ask({ actor, query, inWorkspace }, { side }) {
      const { destinationId, limit = 50, ...filter } = query;
      const { after } = readPage(query);
      const at = after === undefined ? undefined : readPlace(after);
      const ids = await inWorkspace((tx) => destinationsOf(tx, actor.workspaceId, destinationId));
      const destinationIds = destinationId === undefined ? await askEngine(withLetters(ids, side)) : ids;
      const scan = { destinationIds, filter, at, most: limit };
      const { found: letters, next } = await askEngine(scanLetters(side.deadLetters, scan));
      const nextCursor = next === undefined ? null : cursorOf(`${next.destinationId} ${next.sequence}`);
      return { items: letters.map(toItem), nextCursor };
    },
  }),
  engineRoute({
    method: 'GET',
    url: '/api/v1/dead-letters/:id',
    summary: 'One dead letter, with its event and its latest attempts',
    answer: DeadLetterDetails,
    payloads: { hide: hideInLetter },
    ...READ,
    async ask({ actor, params, inWorkspace }, needs) {
      const one = found(await readLetter(params.id, needs));
      await inWorkspace((tx) => mustBeOurs(tx, actor.workspaceId, one));
      const { event, history } = one.letter.delivery;
      const attempts = history.map((note) => ({ ...note, at: new Date(note.at).toISOString() }));
      return { ...toItem(one), event, history: attempts };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/dead-letters/:id/retry',
    summary: 'Delivers a dead letter again, with the same webhook-id and a new retry window',
    answer: RetriedLetter,
    status: 200,
    isCostly: true,
    ...WRITE,
    prepare: ({ params }, needs) => readLetter(params.id, needs),
    async handle({ tx, actor, params, prepared, audit }, needs) {
      const { sequence, letter } = found(prepared as NumberedLetter | undefined);
      await mustBeOurs(tx, actor.workspaceId, { letter });
      const { destinationId, delivery } = letter;
      const replayId = newId('rdr');
      const details = { destinationId, deliveryId: delivery.id, reason: letter.reason, replayId };
      await audit('dead_letter.retried', params.id, { details });
      // Not disposed here: it may have to check the ticket once more after the answer.
      const feeder = openLaneFeeder(needs);
      const again = deliveryOfLetter(letter, { replayId, now: needs.now().getTime() });
      const fed = await askEngine(feeder.feed(destinationId, [again]));
      if (fed !== 'stored') throw new ApiProblem('engine_unavailable');
      await askEngine(needs.side.deadLetters.remove(sequence));
      return { deliveryId: delivery.id, destinationId, replayId };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/dead-letters/redrive',
    summary: 'Starts a job that delivers all matching dead letters again',
    body: NewRedrive,
    answer: Redrive,
    status: 201,
    ...WRITE,
    async handle({ tx, actor, body, audit }, { limits }) {
      const { workspaceId } = actor;
      if (body.destinationId !== undefined) found(await findDestination(tx, workspaceId, body.destinationId));
      const job = await insertJob(tx, {
        workspace_id: workspaceId,
        id: newId('rdr'),
        kind: 'redrive',
        started_by: startedBy(actor),
        asked: body,
      });
      await audit('redrive.started', job.id, { details: body });
      await limits?.mustFit(tx, workspaceId, 'jobs');
      return toJob(job);
    },
  }),
  ...jobRoutes({
    kind: 'redrive',
    word: 'redrive',
    url: '/api/v1/redrives',
    read: 'dead-letters:read',
    write: 'dead-letters:write',
    one: Redrive,
    many: Redrives,
  }),
];

async function destinationsOf(tx: Tx, workspaceId: string, destinationId: string | undefined): Promise<string[]> {
  if (destinationId === undefined) return allDestinationIds(tx, workspaceId);
  return [found(await findDestination(tx, workspaceId, destinationId)).id];
}

/** Reads the letter of any workspace: the caller checks whose it is. */
async function readLetter(id: string, { side }: ControlNeeds): Promise<NumberedLetter | undefined> {
  const sequence = Number(found(/^dl_([1-9]\d{0,14})$/.exec(id)?.[1]));
  const stored = await askEngine(side.deadLetters.readOne(sequence));
  if (stored === undefined) return undefined;
  const letter = await askEngine(readOrSetAside(side.deadLetters, stored));
  return letter && { sequence, letter: { ...letter, destinationId: stored.destinationId } };
}

/** A letter of another workspace gets the same answer as one that does not exist. */
async function mustBeOurs(tx: Tx, workspaceId: string, { letter }: Pick<NumberedLetter, 'letter'>): Promise<void> {
  found(await findDestination(tx, workspaceId, letter.destinationId));
}

function toItem({ sequence, letter }: NumberedLetter): DeadLetterItem {
  const { destinationId, reason, at, delivery } = letter;
  const { id: deliveryId, event, attempts } = delivery;
  const { messageId, type } = event;
  const deadAt = new Date(at).toISOString();
  return { id: `dl_${sequence}`, destinationId, deliveryId, reason, deadAt, messageId, type, attempts };
}

function readPlace(text: string): LetterPlace {
  const [, destinationId, sequence] = /^(\S+) (\d{1,15})$/.exec(text) ?? [];
  if (destinationId === undefined) throw new ApiProblem('invalid_cursor');
  return { destinationId, sequence: Number(sequence) };
}
