import type { AcceptedEvent } from '@millrace/contract';
import { NewReplay, Replay, ReplayPreview, ReplayRange, Replays } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { findDestination } from '../../../store/destinations.ts';
import { insertJob } from '../../../store/jobs.ts';
import type { Tx } from '../../../store/open-store.ts';
import { findSource } from '../../../store/sources.ts';
import { startedBy } from '../../access/actor.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { hideInReplay } from './hide-payloads.ts';
import { jobRoutes, toJob } from './job-routes.ts';
import { isReplayable, openTally, readRouting } from '../../jobs/replay-routing.ts';
import { scanEvents } from '../../jobs/scan-events.ts';
import { newId } from '../../../store/new-id.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { engineRoute, type Route, route } from '../../http/route.ts';

const WRITE = { permission: 'replays:write' } as const;
/** A person waits for the preview. */
const PREVIEW_MS = 7_000;
const SHOWN = 5;

export const replayRoutes: Route[] = [
  engineRoute({
    method: 'POST',
    url: '/api/v1/replays/preview',
    summary: 'Previews a replay: the number of events it would deliver, and the first five',
    body: ReplayRange,
    answer: ReplayPreview,
    status: 200,
    permission: 'replays:read',
    payloads: {
      hide: (preview: Static<typeof ReplayPreview>) => ({ ...preview, first: [] }),
      asksAbout,
    },
    async ask({ actor, body, inWorkspace }, { side, catalog }) {
      const routing = await inWorkspace(async (tx) => {
        await mustFit(tx, actor.workspaceId, body);
        return found(await readRouting(tx, body, catalog));
      });
      const tally = openTally(routing);
      const scan = {
        range: body,
        at: undefined,
        most: Infinity,
        maxMs: PREVIEW_MS,
        isWanted: (event: AcceptedEvent) => tally.isDelivered(event) && tally.delivered() <= SHOWN,
      };
      const scanned = await askEngine(scanEvents(side.events, scan));
      const first = scanned.found.map(({ event }) => event);
      return { count: tally.delivered(), isExact: scanned.next === undefined, skipped: tally.skipped, first };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/replays',
    summary: 'Starts a job that delivers stored events of a source to one destination again',
    body: NewReplay,
    answer: Replay,
    payloads: { hide: hideInReplay, asksAbout },
    status: 201,
    ...WRITE,
    async handle({ tx, actor, body, audit }, { limits }) {
      const { workspaceId } = actor;
      await mustFit(tx, workspaceId, body);
      const job = await insertJob(tx, {
        workspace_id: workspaceId,
        id: newId('rpl'),
        kind: 'replay',
        started_by: startedBy(actor),
        asked: body,
      });
      const { filter = {}, ...rest } = body;
      // Without user ids: the audit log is append-only, so they could not be erased from it.
      const details = { ...rest, filter: { ...filter, ...(filter.userIds && { userIds: filter.userIds.length }) } };
      await audit('replay.started', job.id, { details });
      await limits?.mustFit(tx, workspaceId, 'jobs');
      return toJob(job);
    },
  }),
  ...jobRoutes({
    kind: 'replay',
    word: 'replay',
    url: '/api/v1/replays',
    read: 'replays:read',
    write: 'replays:write',
    one: Replay,
    many: Replays,
    hide: hideInReplay,
  }),
];

/** The number of events that a preview or a replay finds would tell of the user. */
function asksAbout({ body }: { body: ReplayRange }): boolean {
  return body.filter?.userIds !== undefined;
}

async function mustFit(tx: Tx, workspaceId: string, { sourceId, destinationId, from, to }: ReplayRange): Promise<void> {
  const source = found(await findSource(tx, workspaceId, sourceId));
  const destination = found(await findDestination(tx, workspaceId, destinationId));
  const errors = [
    ...(isReplayable(source, destination)
      ? []
      : [{ path: '/destinationId', message: 'must be a destination of the source' }]),
    ...(Date.parse(from) < Date.parse(to) ? [] : [{ path: '/to', message: 'must be after from' }]),
  ];
  if (errors.length > 0) throw new ApiProblem('invalid_request', errors);
}
