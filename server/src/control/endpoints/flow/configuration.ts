import { ConfirmRemovals, RemovalsWaiting } from '@millrace/contract/control';
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { auditActor } from '../../access/actor.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { NO_REMOVALS, totalOf } from '../../../projection/repair-config.ts';
import { engineRoute, type Route, route } from '../../http/route.ts';

export const configurationRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/configuration/removals',
    summary:
      'Configuration in effect without a row in the database, too much to remove without confirmation; for the operator',
    permission: 'configuration:read',
    answer: RemovalsWaiting,
    status: 200,
    async handle({ actor }, needs) {
      await mustBeOperator(actor, needs);
      return toAnswer(needs);
    },
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/configuration/removals/confirm',
    summary: 'Removes it, and gives up the deliveries that wait for these destinations; for the operator',
    permission: 'configuration:write',
    body: ConfirmRemovals,
    answer: RemovalsWaiting,
    status: 200,
    async ask({ actor, body }, needs) {
      await mustBeOperator(actor, needs);
      const waiting = needs.removals?.waiting() ?? NO_REMOVALS;
      // The operator confirms a number of entries: a different number by now is something they have not seen.
      if (needs.removals === undefined || totalOf(waiting) !== body.entries) throw new ApiProblem('wrong_state');
      // Before the removal: comparing reads the whole bucket, and no transaction may be open meanwhile.
      const entry = { at: needs.now(), actor: auditActor(actor), action: 'removals.confirmed', objectId: INSTALLATION };
      await needs.store.asSystem((tx) => appendAudit(tx, INSTALLATION, { ...entry, details: { ...waiting } }));
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
