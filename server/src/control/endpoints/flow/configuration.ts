import { ConfirmRemovals, RemovalsWaiting } from '@millrace/contract/control';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { recordChange } from '../../http/audit-change.ts';
import { NO_REMOVALS, totalOf } from '../../../projection/repair-config.ts';
import { question, type Route, route } from '../../http/route.ts';

export const configurationRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/configuration/removals',
    summary:
      'Configuration in effect that has no row in the database, too much to be removed unasked; for the operator',
    permission: 'configuration:read',
    answer: RemovalsWaiting,
    status: 200,
    async handle(asked, needs) {
      await mustBeOperator(asked, needs);
      return toAnswer(needs);
    },
  }),
  question({
    method: 'POST',
    url: '/api/v1/configuration/removals/confirm',
    summary: 'Removes it: what waits for these destinations is given up; for the operator',
    permission: 'configuration:write',
    body: ConfirmRemovals,
    answer: RemovalsWaiting,
    status: 200,
    async ask({ inWorkspace, ...asked }, needs) {
      await mustBeOperator(asked, needs);
      const waiting = needs.removals?.waiting() ?? NO_REMOVALS;
      // Whoever confirms has seen how many there are.
      if (needs.removals === undefined || totalOf(waiting) !== asked.body.entries) throw new ApiProblem('wrong_state');
      const change = { action: 'removals.confirmed', objectId: asked.actor.workspaceId, details: { ...waiting } };
      // Written down before it is done: comparing reads the whole bucket, and no transaction may be open meanwhile.
      await inWorkspace((tx) => recordChange({ ...asked, tx }, change, needs));
      await needs.removals.confirm();
      return toAnswer(needs);
    },
  }),
];

function toAnswer({ removals }: ControlNeeds) {
  const waiting = removals?.waiting() ?? NO_REMOVALS;
  const { source: sources, destination: destinations, user: users } = waiting;
  return { entries: totalOf(waiting), sources, destinations, users };
}
