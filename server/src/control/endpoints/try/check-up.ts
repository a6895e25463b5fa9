import { CheckUp, StartCheckUp } from '@millrace/contract/control';
import { type CheckUpRow, countRunningCheckUps, findCheckUp, startCheckUp } from '../../../store/check-ups.ts';
import { findDestination } from '../../../store/destinations.ts';
import { newId } from '../../../store/new-id.ts';
import { deliverRoute, type Route, route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { waitingSteps } from './check-up-steps.ts';
import { gradeReport } from './grade-check-up.ts';
import { LEASE_MS } from './open-check-ups.ts';
import { mustHaveTarget } from './test-destination.ts';

/** Of a workspace: each has one request under way at a time, and half of the workspace's share is left for tests. */
const MOST_RUNNING = 2;
/** Of a workspace: as many as checks of URLs, because each looks at the connection of a URL that its owner can change. */
const PER_MINUTE = 60;

const URL = '/api/v1/destinations/:id/check-up';

export const checkUpRoutes: Route[] = [
  deliverRoute({
    method: 'POST',
    url: URL,
    summary:
      'Starts a check-up of a receiver: a few requests to one target, some wrong on purpose, and a graded report',
    body: StartCheckUp,
    answer: CheckUp,
    status: 201,
    permission: 'destinations:write',
    async ask({ actor, params, body, inWorkspace }, { checkUps, tries }) {
      const { workspaceId } = actor;
      const { targetIndex = 0 } = body;
      const started = await inWorkspace(async (tx, audit) => {
        const destination = found(await findDestination(tx, workspaceId, params.id));
        mustHaveTarget(destination, targetIndex);
        const id = newId('chk');
        const names = { workspace_id: workspaceId, destination_id: destination.id, id };
        // Before anything is sent: no check-up is without an entry. It also serializes the starts of a workspace.
        await audit('destination.checked_up', destination.id, { details: { targetIndex, checkUpId: id } });
        const steps = waitingSteps();
        const row = await startCheckUp(tx, { ...names, target_index: targetIndex, steps }, LEASE_MS);
        if (row === undefined) throw isRunning(destination.id);
        if ((await countRunningCheckUps(tx, workspaceId)) > MOST_RUNNING) throw tooMany();
        if (tries?.take(`check-up ${workspaceId}`, PER_MINUTE) === false) throw new ApiProblem('too_many_tries');
        return { destination, row };
      });
      checkUps?.start({ actor, ...started });
      return toCheckUp(started.row);
    },
  }),
  route({
    method: 'GET',
    url: URL,
    summary: 'The latest check-up of a destination: its progress, or its report',
    answer: CheckUp,
    status: 200,
    permission: 'destinations:read',
    async handle({ tx, actor: { workspaceId }, params }) {
      found(await findDestination(tx, workspaceId, params.id));
      const row = await findCheckUp(tx, workspaceId, params.id);
      if (row === undefined) throw noneYet();
      return toCheckUp(row);
    },
  }),
];

const LOST =
  'The process that ran the check-up ended before it was done, or lost its database. Nothing is sent any more: start it again.';

export function toCheckUp(row: CheckUpRow): CheckUp {
  const state = row.is_lost ? 'failed' : row.state;
  const endedAt = row.is_lost ? row.leased_until : row.ended_at;
  const report =
    state === 'done' ? gradeReport(row.steps) : { grade: null, sentence: row.is_lost ? LOST : row.problem };
  return {
    id: row.id,
    destinationId: row.destination_id,
    targetIndex: row.target_index,
    state,
    ...report,
    steps: row.steps,
    facts: row.facts,
    startedAt: row.started_at.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}

function isRunning(destinationId: string): ApiProblem {
  const message = `a check-up of this destination is running: GET /api/v1/destinations/${destinationId}/check-up shows it`;
  return new ApiProblem('wrong_state', [{ path: '/', message }]);
}

function tooMany(): ApiProblem {
  const message = `${MOST_RUNNING} check-ups of the workspace are running, and no more may`;
  return new ApiProblem('too_many_questions', [{ path: '/', message }]);
}

function noneYet(): ApiProblem {
  return new ApiProblem('not_found', [
    { path: '/', message: 'this destination has had no check-up: start one with POST' },
  ]);
}
