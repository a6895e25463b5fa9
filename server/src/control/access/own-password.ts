import type { Store } from '../../store/open-store.ts';
import { findUser, type UserRow } from '../../store/users.ts';
import { ApiProblem, found } from '../problems/problems.ts';
import type { FailureLog } from './failure-log.ts';
import type { TryLimiter } from './limit-tries.ts';
import { isPassword } from './password.ts';

const TRIES_PER_MINUTE = 10;

type Asked = { userId: string; password: string; address: string };
type PasswordNeeds = { store: Store; tries: TryLimiter; failures: FailureLog };

/** The account of a session that gives its password once more. A thief of the session must not guess it unseen: the audit log has each wrong one. */
export async function mustKnowPassword(
  { userId, password, address }: Asked,
  { store, tries, failures }: PasswordNeeds,
): Promise<UserRow> {
  if (!tries.take(`password ${userId}`, TRIES_PER_MINUTE)) throw new ApiProblem('too_many_tries');
  const user = found(await store.asSystem((tx) => findUser(tx, userId)));
  if (await isPassword(password, user.password_hash ?? '')) return user;
  failures.note({ email: user.email, address, why: 'wrong_password' });
  throw new ApiProblem('wrong_password');
}
