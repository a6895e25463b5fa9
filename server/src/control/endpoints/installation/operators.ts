/** The list of operators, which decides alone: no role of a workspace makes one. */
import { NewOperator, Operator, Operators } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { findMember } from '../../../store/members.ts';
import {
  deleteOperator,
  insertOperator,
  listOperators,
  lockOperators,
  type OperatorRow,
} from '../../../store/operators.ts';
import type { Tx } from '../../../store/open-store.ts';
import { findToken } from '../../../store/tokens.ts';
import { type Actor, auditActor } from '../../access/actor.ts';
import { mustBeOperatorIn } from '../../http/operator.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

export const operatorRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/operators',
    summary: 'The people and tokens that run the installation; for operators',
    permission: 'operators:read',
    answer: Operators,
    status: 200,
    ask: ({ actor }, { store }) =>
      store.asSystem(async (tx) => {
        await mustBeOperatorIn(tx, actor);
        const { rows, areFirstOwners } = await listOperators(tx);
        return { items: rows.map(toOperator), areFirstOwners };
      }),
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/operators',
    summary: 'Makes a member or a token of the workspace you are in an operator; for operators',
    permission: 'operators:write',
    body: NewOperator,
    answer: Operator,
    status: 201,
    ask: ({ actor, body }, { store, now }) =>
      store.asSystem(async (tx) => {
        await lockOperators(tx);
        await mustBeOperatorIn(tx, actor);
        // A narrowed token would give more than it has.
        if (actor.scopes !== undefined) throw new ApiProblem('not_allowed');
        const kind = await kindOf(tx, actor.workspaceId, body.id);
        // The first person in the table ends the rule of the first workspace: the asking operator must not lock themselves out.
        if ((await listOperators(tx)).areFirstOwners) await insertOperator(tx, actor, actor.id);
        const isNew = await insertOperator(tx, { kind, id: body.id }, actor.id);
        const { rows } = await listOperators(tx);
        const row = found(rows.find(({ id }) => id === body.id));
        if (isNew) await log(tx, actor, { action: 'operator.added', objectId: row.id, at: now() });
        return toOperator(row);
      }),
  }),
  engineRoute({
    method: 'DELETE',
    url: '/api/v1/operators/:id',
    summary: 'Removes an operator, with the tokens among the operators that they made; the last person stays',
    permission: 'operators:write',
    status: 204,
    ask: ({ actor, params }, { store, now }) =>
      store.asSystem(async (tx) => {
        await lockOperators(tx);
        await mustBeOperatorIn(tx, actor);
        const { rows, areFirstOwners } = await listOperators(tx);
        const row = found(rows.find(({ id }) => id === params.id));
        const people = rows.filter(({ kind }) => kind === 'user');
        if (areFirstOwners || (row.kind === 'user' && people.length === 1)) throw new ApiProblem('last_operator');
        const removed = await deleteOperator(tx, row.id);
        const tokens = removed.filter((id) => id !== row.id);
        await log(tx, actor, { action: 'operator.removed', objectId: row.id, at: now(), details: { tokens } });
      }),
  }),
];

type Logged = { action: string; objectId: string; at: Date; details?: Record<string, unknown> };

function log(tx: Tx, actor: Actor, { details = {}, ...entry }: Logged): Promise<void> {
  return appendAudit(tx, INSTALLATION, { ...entry, actor: auditActor(actor), details });
}

/** Only of the workspace that the operator is in: no answer tells whether a stranger has an account. */
async function kindOf(tx: Tx, workspaceId: string, id: string): Promise<'user' | 'token'> {
  if (id.startsWith('usr_')) {
    const { is_managed } = found(await findMember(tx, { workspaceId, userId: id }));
    // The sessions of such an account are no operators, so it must not count as the last one who is.
    if (is_managed) throw new ApiProblem('not_allowed', [{ path: '/id', message: MANAGED }]);
    return 'user';
  }
  found(await findToken(tx, workspaceId, id));
  return 'token';
}

const MANAGED = 'single sign-on made this account: a provider runs no installation';

function toOperator({ id, kind, name, email, ...row }: OperatorRow): Static<typeof Operator> {
  return { id, kind, name, email, addedBy: row.added_by, addedAt: row.added_at.toISOString() };
}
