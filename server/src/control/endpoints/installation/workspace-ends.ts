/** The end of a workspace: asked for by an owner or an operator, undone within the grace time. jobs/remove-workspaces.ts removes it. */
import { Workspace, WorkspaceDeletion } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { listOperators } from '../../../store/operators.ts';
import type { Tx } from '../../../store/open-store.ts';
import { findUser } from '../../../store/users.ts';
import {
  addWorkspaceToOutbox,
  countLasting,
  findWorkspaceEnd,
  insertWorkspaceEnd,
  undoWorkspaceEnd,
} from '../../../store/workspace-ends.ts';
import { findFirstWorkspace, findWorkspace, lockInstallation } from '../../../store/workspaces.ts';
import { type Actor, auditActor } from '../../access/actor.ts';
import { isPassword } from '../../access/password.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperatorIn } from '../../http/operator.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

const GRACE_MS = 14 * 86_400_000;
const TRIES_PER_MINUTE = 10;

export const workspaceEndRoutes: Route[] = [
  engineRoute({
    method: 'POST',
    url: '/api/v1/workspace/deletion',
    summary: 'Ends the workspace after its grace time; until then sources take no calls and destinations wait',
    permission: 'workspace:write',
    body: WorkspaceDeletion,
    answer: Workspace,
    status: 201,
    ask: ({ actor, body }, needs) => askForEnd(actor.workspaceId, { actor, body, isOperator: false }, needs),
  }),
  engineRoute({
    method: 'DELETE',
    url: '/api/v1/workspace/deletion',
    summary: 'Undoes the end of the workspace, within its grace time',
    permission: 'workspace:write',
    status: 204,
    ask: ({ actor }, needs) => undoEnd(actor.workspaceId, { actor, isOperator: false }, needs),
  }),
  engineRoute({
    method: 'POST',
    url: '/api/v1/installation/workspaces/:id/deletion',
    summary: 'Ends a workspace of others after its grace time; for operators',
    permission: 'operators:write',
    body: WorkspaceDeletion,
    answer: Workspace,
    status: 201,
    ask: ({ actor, params, body }, needs) => askForEnd(params.id, { actor, body, isOperator: true }, needs),
  }),
  engineRoute({
    method: 'DELETE',
    url: '/api/v1/installation/workspaces/:id/deletion',
    summary: 'Undoes the end of a workspace of others, within its grace time; for operators',
    permission: 'operators:write',
    status: 204,
    ask: ({ actor, params }, needs) => undoEnd(params.id, { actor, isOperator: true }, needs),
  }),
];

type Asking = { actor: Actor; body: Static<typeof WorkspaceDeletion>; isOperator: boolean };

async function askForEnd(workspaceId: string, { actor, body, isOperator }: Asking, needs: ControlNeeds) {
  const { store, now, workspaceGraceMs = GRACE_MS } = needs;
  if (isOperator) await store.asSystem((tx) => mustBeOperatorIn(tx, actor));
  await mustBePerson(actor, body.password, needs);
  return store.asSystem(async (tx) => {
    const workspace = found(await findWorkspace(tx, workspaceId));
    if (workspace.name !== body.name) throw invalid('/name', 'must be the name of the workspace, as it is written');
    // Two owners that end the last two workspaces at the same moment come one after the other.
    await lockInstallation(tx);
    await mustBeSpare(tx, workspaceId);
    const endsAt = new Date(now().getTime() + workspaceGraceMs);
    if (!(await insertWorkspaceEnd(tx, { workspaceId, askedBy: actor.id, endsAt })))
      throw new ApiProblem('wrong_state');
    await addWorkspaceToOutbox(tx, workspaceId);
    const details = { endsAt: endsAt.toISOString() };
    await log(tx, workspaceId, { actor, isOperator, at: now(), action: 'workspace.deletion_asked', details });
    const createdAt = workspace.created_at.toISOString();
    return { id: workspaceId, name: workspace.name, createdAt, endsAt: endsAt.toISOString() };
  });
}

async function undoEnd(workspaceId: string, { actor, isOperator }: Omit<Asking, 'body'>, needs: ControlNeeds) {
  const { store, now } = needs;
  await store.asSystem(async (tx) => {
    if (isOperator) await mustBeOperatorIn(tx, actor);
    found(await findWorkspaceEnd(tx, workspaceId));
    if (!(await undoWorkspaceEnd(tx, workspaceId))) throw new ApiProblem('wrong_state');
    await addWorkspaceToOutbox(tx, workspaceId);
    await log(tx, workspaceId, { actor, isOperator, at: now(), action: 'workspace.deletion_undone', details: {} });
  });
}

/**
 * A token cannot end a workspace: a thief of one must not be able to. Neither can a session of single sign-on: its provider could guess the
 * password of the person, who may be in other workspaces.
 */
async function mustBePerson(actor: Actor, password: string, { store, tries }: ControlNeeds): Promise<void> {
  if (actor.kind !== 'user') throw new ApiProblem('not_allowed');
  if (actor.isBound === true) throw new ApiProblem('sso_session');
  if (tries?.take(`password ${actor.id}`, TRIES_PER_MINUTE) === false) throw new ApiProblem('too_many_tries');
  const user = found(await store.asSystem((tx) => findUser(tx, actor.id)));
  if (!(await isPassword(password, user.password_hash ?? ''))) throw new ApiProblem('wrong_password');
}

/** Without a workspace the installation could be set up anew; without the first one other owners would become the operators. */
async function mustBeSpare(tx: Tx, workspaceId: string): Promise<void> {
  const first = await findFirstWorkspace(tx);
  if (first?.id === workspaceId && (await listOperators(tx)).areFirstOwners) throw new ApiProblem('last_operator');
  if ((await countLasting(tx)) <= 1) throw new ApiProblem('wrong_state', [{ path: '/', message: ONLY_ONE }]);
}

const ONLY_ONE = 'this is the only workspace of the installation: create another one first';

type Logged = { actor: Actor; isOperator: boolean; at: Date; action: string; details: Record<string, unknown> };

/** An operator's change stands in both logs: the workspace has to know, and the installation keeps it. */
async function log(tx: Tx, workspaceId: string, { actor, isOperator, ...entry }: Logged): Promise<void> {
  const who = auditActor(actor);
  const shown = isOperator ? { kind: 'operator', id: actor.id } : who;
  await appendAudit(tx, workspaceId, { ...entry, actor: shown, objectId: workspaceId });
  if (isOperator) await appendAudit(tx, INSTALLATION, { ...entry, actor: who, objectId: workspaceId });
}

function invalid(path: string, message: string): ApiProblem {
  return new ApiProblem('invalid_request', [{ path, message }]);
}
