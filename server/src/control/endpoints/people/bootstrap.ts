import { Bootstrap, Me } from '@millrace/contract/control';
import { networkOf } from '../../../http/network-of.ts';
import { insertMember } from '../../../store/members.ts';
import { insertOperator } from '../../../store/operators.ts';
import type { Store, Tx } from '../../../store/open-store.ts';
import { deleteSetupTokens, insertSetupToken, isSetupToken } from '../../../store/setup-tokens.ts';
import { insertToken } from '../../../store/tokens.ts';
import { insertUser } from '../../../store/users.ts';
import { isEmptyInstallation, lockInstallation } from '../../../store/workspaces.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { newId } from '../../../store/new-id.ts';
import { hashPassword } from '../../access/password.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { hashOfSecret, hintOfSecret, makeSecret } from '../../access/secret-text.ts';
import { startSession } from '../../access/start-session.ts';
import { createWorkspace } from './create-workspace.ts';
import { readMe } from './me.ts';

const FIRST_START = { kind: 'bootstrap' };

export type FirstStart =
  | { kind: 'already-set-up' }
  | { kind: 'token-created' }
  | { kind: 'waiting'; setupToken: string };

/** The first start of an installation. Safe to repeat, and for several processes at the same moment. */
export function bootstrap(store: Store, bootstrapToken: string | undefined, now: Date): Promise<FirstStart> {
  return store.asSystem(async (tx) => {
    await lockInstallation(tx);
    if (!(await isEmptyInstallation(tx))) return { kind: 'already-set-up' };
    if (bootstrapToken !== undefined) {
      await createWithToken(tx, bootstrapToken, now);
      return { kind: 'token-created' };
    }
    const setupToken = makeSecret('mlr');
    await insertSetupToken(tx, hashOfSecret(setupToken));
    return { kind: 'waiting', setupToken };
  });
}

export const bootstrapRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/bootstrap',
    summary: 'Creates the first workspace and its owner, with the one-time token from the log, and signs them in',
    access: 'anybody',
    body: Bootstrap,
    answer: Me,
    status: 201,
    async handle({ body, bearer, address, userAgent }, { store, tries, now }) {
      if (!tries.take(`bootstrap ${networkOf(address)}`, 10)) throw new ApiProblem('too_many_tries');
      const tokenHash = hashOfSecret(bearer ?? '');
      await store.asSystem((tx) => mustBeSetupToken(tx, tokenHash));
      const passwordHash = await hashPassword(body.password);
      return store.asSystem(async (tx) => {
        await lockInstallation(tx);
        await mustBeSetupToken(tx, tokenHash);
        await deleteSetupTokens(tx);
        const id = await createWorkspace(tx, body.workspace, { at: now(), actor: FIRST_START });
        const user = { id: newId('usr'), email: body.email, name: body.name };
        await insertUser(tx, { ...user, passwordHash });
        await insertMember(tx, { workspaceId: id, userId: user.id, role: 'owner' });
        const session = await startSession(tx, user.id, { address, userAgent }, now());
        await insertOperator(tx, { kind: 'user', id: user.id }, FIRST_START.kind);
        return { session, body: await readMe(tx, { kind: 'user', userId: user.id, sessionId: '' }) };
      });
    },
  }),
];

async function mustBeSetupToken(tx: Tx, tokenHash: Buffer): Promise<void> {
  if (!(await isEmptyInstallation(tx))) throw new ApiProblem('already_set_up');
  if (!(await isSetupToken(tx, tokenHash))) throw new ApiProblem('not_signed_in');
}

async function createWithToken(tx: Tx, secret: string, now: Date): Promise<void> {
  await deleteSetupTokens(tx);
  const workspaceId = await createWorkspace(tx, 'Default', { at: now, actor: FIRST_START });
  await insertToken(tx, {
    workspaceId,
    id: newId('tok'),
    name: 'Bootstrap token',
    role: 'owner',
    scopes: null,
    secretHash: hashOfSecret(secret),
    hint: hintOfSecret(secret),
    createdBy: 'bootstrap',
    expiresAt: null,
  });
}
