import { LiftedSuppression, LiftSuppression, SuppressedCalls, UsageQuery } from '@millrace/contract/control';
import { userHash } from '../../../domain/withheld.ts';
import { liftSuppressions, lockSuppressions } from '../../../store/erased-users.ts';
import { suppressedOfMonth } from '../../../store/suppressed-calls.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';

/** The source id of a suppression that covers all sources. */
const ALL = '';

export const suppressionRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/suppressions/calls',
    summary: 'Dropped calls of suppressed users in a month, by source and day',
    query: UsageQuery,
    answer: SuppressedCalls,
    permission: 'usage:read',
    status: 200,
    async handle({ tx, actor, query }, { now }) {
      const month = query.month ?? now().toISOString().slice(0, 7);
      const rows = await suppressedOfMonth(tx, actor.workspaceId, `${month}-01`);
      const items = rows.map(({ day, source_id: sourceId, calls }) => ({ day, sourceId, calls: Number(calls) }));
      return { month, items };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/suppressions/lift',
    summary: 'Lifts a suppression: calls of the user are accepted again',
    body: LiftSuppression,
    answer: LiftedSuppression,
    permission: 'deletions:write',
    status: 200,
    async handle({ tx, actor: { workspaceId }, body, audit }) {
      const hash = userHash(workspaceId, body.userId);
      const lifted = toLift(await lockSuppressions(tx, workspaceId, hash), body.sources);
      await liftSuppressions(tx, { workspaceId, userHash: hash, sourceIds: body.sources });
      const sources = lifted.includes(ALL) ? null : lifted;
      await audit('suppression.lifted', hash, { details: { sources }, projects: 'user' });
      return { userHash: hash, sources };
    },
  }),
];

/** A suppression for all sources cannot be lifted for one source alone: the store cannot express that. */
function toLift(suppressed: string[], wanted: string[] | undefined): string[] {
  const lifted = wanted === undefined ? suppressed : suppressed.filter((id) => wanted.includes(id));
  if (wanted !== undefined && suppressed.includes(ALL)) {
    const message = 'must be left out: the user is suppressed for all sources of the workspace';
    throw new ApiProblem('invalid_request', [{ path: '/sources', message }]);
  }
  if (lifted.length === 0) throw new ApiProblem('not_found');
  return lifted;
}
