/** The rule that owners of the first workspace are the operators ends before a provider can make owners of it. */
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { insertOperator, listOperators, lockOperators } from '../../../store/operators.ts';
import { findFirstWorkspace } from '../../../store/workspaces.ts';
import { type Actor, auditActor } from '../../access/actor.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { ApiProblem } from '../../problems/problems.ts';

/** Puts the owners of the first workspace into the list of operators. Needs a person among them: tokens alone do not end the rule. */
export function settleOperators(actor: Actor, { store, now }: Pick<ControlNeeds, 'store' | 'now'>): Promise<void> {
  return store.asSystem(async (tx) => {
    if ((await findFirstWorkspace(tx))?.id !== actor.workspaceId) return;
    await lockOperators(tx);
    const { rows, areFirstOwners } = await listOperators(tx);
    if (!areFirstOwners) return;
    if (rows.every(({ kind }) => kind !== 'user')) {
      throw new ApiProblem('wrong_state', [{ path: '/', message: NO_PERSON }]);
    }
    for (const row of rows) {
      if (!(await insertOperator(tx, row, actor.id))) continue;
      const entry = { at: now(), actor: auditActor(actor), objectId: row.id, details: {} };
      await appendAudit(tx, INSTALLATION, { ...entry, action: 'operator.added' });
    }
  });
}

const NO_PERSON =
  'the owners of this workspace run the installation, and a provider would make more of them: invite a person as an owner first, who stays an operator';
