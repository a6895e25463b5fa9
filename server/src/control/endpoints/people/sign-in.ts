import { SignIn } from '@millrace/contract/control';
import { deleteSession } from '../../../store/sessions.ts';
import { findUserByEmail } from '../../../store/users.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { isPassword } from '../../access/password.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { recordForUser, startSession } from '../../access/start-session.ts';

const TRIES_PER_MINUTE = 10;
const TRIES_PER_MINUTE_OF_ADDRESS = 100;

/** No password has this hash. Checked for unknown addresses, so that they take as long as known ones. */
const IMPOSSIBLE_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

export const signInRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/session',
    summary: 'Signs in: the answer sets the session cookie',
    access: 'anybody',
    body: SignIn,
    status: 204,
    async handle({ body, address, userAgent }, { store, tries, now, log }) {
      const pair = JSON.stringify([body.email.toLowerCase(), address]);
      const isFewEnough = tries.take(address, TRIES_PER_MINUTE_OF_ADDRESS) && tries.take(pair, TRIES_PER_MINUTE);
      if (!isFewEnough) throw new ApiProblem('too_many_tries');
      // Outside of any transaction: a password check takes longer than a connection should be held.
      const user = await store.asSystem((tx) => findUserByEmail(tx, body.email));
      const isRight = await isPassword(body.password, user?.password_hash ?? IMPOSSIBLE_HASH);
      if (user === undefined || !isRight) {
        log.warn({ address, userId: user?.id }, 'session.refused');
        throw new ApiProblem('wrong_password');
      }
      tries.forget(pair);
      const session = await store.asSystem((tx) => startSession(tx, user.id, { address, userAgent }, now()));
      return { session };
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/session',
    summary: 'Signs out',
    access: 'user',
    status: 204,
    async handle({ who, address }, { store, now }) {
      const { userId, sessionId } = who;
      await store.asSystem(async (tx) => {
        await deleteSession(tx, { id: sessionId, userId });
        await recordForUser(tx, { userId, sessionId, address }, 'session.ended', now());
      });
      return { session: null };
    },
  }),
];
