import { SecondFactorAsked, SignIn } from '@millrace/contract/control';
import { deleteSession } from '../../../store/sessions.ts';
import { addSignInFailure, countSignInFailures } from '../../../store/sign-in-failures.ts';
import type { Store } from '../../../store/open-store.ts';
import { findUserByEmail, lockPassword, type UserRow } from '../../../store/users.ts';
import { type AccountNeeds, type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { accountOf, deviceOf } from '../../access/device-cookie.ts';
import type { Admitted } from '../../access/guard-sign-in.ts';
import { IMPOSSIBLE_HASH, isPassword } from '../../access/password.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { finishSignIn, recordForUser } from '../../access/start-session.ts';
import { askForFactor } from '../../factors/ask-for-factor.ts';

/** Wrong tries an hour for one account, over all networks, from browsers that have not signed in to it before. */
const WRONG_TRIES_OF_ACCOUNT = 50;

export const signInRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/session',
    summary: 'Signs in: the answer sets the session cookie, or asks for a second factor',
    access: 'anybody',
    body: SignIn,
    status: 204,
    other: { status: 202, answer: SecondFactorAsked },
    async handle({ body, address, userAgent, device }, needs) {
      const { store, metrics } = needs;
      const user = await checkPassword({ ...body, address, device }, needs);
      const answer = await store.asSystem(async (tx) => {
        // Otherwise a sign-in with the password before would outlive a new one, which ends all sessions.
        if (!(await lockPassword(tx, user))) throw new ApiProblem('wrong_password');
        const asked = await askForFactor(tx, { userId: user.id, userAgent }, needs);
        if (asked !== undefined) return { ...asked, isOther: true };
        return finishSignIn(tx, user, { address, userAgent }, needs);
      });
      metrics
        ?.counters('millrace_sign_ins_total')('isOther' in answer ? 'second_factor_asked' : 'right')
        .add();
      return answer;
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/session',
    summary: 'Signs out',
    access: 'user',
    allowsBound: true,
    status: 204,
    async handle({ who, address }, { store, now }) {
      const { userId, sessionId, boundTo } = who;
      await store.asSystem(async (tx) => {
        await deleteSession(tx, { id: sessionId, userId });
        await recordForUser(tx, { userId, sessionId, address, boundTo }, 'session.ended', now());
      });
      return { session: null };
    },
  }),
];

type Try = { email: string; password: string; address: string; device: string | undefined };

/** The user with this password; throws for every other try, and notes it for the audit log. */
export async function checkPassword({ email, password, address, device }: Try, needs: AccountNeeds): Promise<UserRow> {
  const { store, guard, failures, keyRing, metrics, now, log } = needs;
  const count = metrics?.counters('millrace_sign_ins_total');
  const deviceId = deviceOf(keyRing, device, email, now());
  try {
    // The turn comes before the database: tries that are refused cost no connection.
    using admitted = await guard.enter({ email, address, deviceId });
    const user = await userWithPassword({ email, password }, admitted, store);
    admitted.succeeded();
    return user;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    count?.(error.code).add();
    if (error.code === 'wrong_password') log.warn({ address }, 'session.refused');
    if (error.code === 'wrong_password' || error.code === 'too_many_tries') {
      failures.note({ email, address, why: error.code });
    }
    throw error;
  }
}

/** A password check takes longer than a connection should be held, so it runs outside of any transaction. */
async function userWithPassword(
  { email, password }: { email: string; password: string },
  turn: Admitted,
  store: Store,
): Promise<UserRow> {
  const account = Buffer.from(accountOf(email), 'base64url');
  const { user, failures } = await store.asSystem(async (tx) => ({
    user: await findUserByEmail(tx, email),
    failures: turn.isKnown ? 0 : await countSignInFailures(tx, account),
  }));
  if (failures >= WRONG_TRIES_OF_ACCOUNT) throw new ApiProblem('too_many_tries');
  const isRight = await isPassword(password, user?.password_hash ?? IMPOSSIBLE_HASH, turn);
  if (user !== undefined && isRight) return user;
  if (!turn.isKnown) await store.asSystem((tx) => addSignInFailure(tx, account));
  throw new ApiProblem('wrong_password');
}
