/** The second step of a sign-in, and the sign-in with a passkey alone. Neither has a session before it succeeds. */
import { FactorProof, PasskeyOptions, PasskeySignIn, SecondFactorGiven } from '@millrace/contract/control';
import { networkOf } from '../../../http/network-of.ts';
import type { Tx } from '../../../store/open-store.ts';
import { findPasskey } from '../../../store/passkeys.ts';
import { countRecoveryCodes } from '../../../store/recovery-codes.ts';
import { spendTicket, tryTicket, useTicket } from '../../../store/sign-in-tickets.ts';
import { findUser } from '../../../store/users.ts';
import { browserOf } from '../../access/browser-of.ts';
import type { Refusal } from '../../access/failure-log.ts';
import { finishSignIn } from '../../access/start-session.ts';
import { mustHavePasskeys, requestOptions } from '../../factors/passkeys.ts';
import { proveFactor, provePasskey, type Verdict } from '../../factors/prove-factor.ts';
import { makePasskeyTicket, openTicket, type Ticket, TICKET_MS } from '../../factors/ticket.ts';
import { type AccountNeeds, type AccountRoute, accountRoute, type Visit } from '../../http/account-route.ts';
import { ApiProblem } from '../../problems/problems.ts';

/** Of one ticket; another one needs the password again. */
const TRIES_OF_TICKET = 5;
const PASSKEYS_PER_MINUTE_OF_NETWORK = 30;

export const secondStepRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/session/second-factor',
    summary: 'Signs in with a second factor, after the password: the answer sets the session cookie',
    access: 'anybody',
    body: FactorProof,
    answer: SecondFactorGiven,
    status: 200,
    async handle(visit, needs) {
      const { keyRing, store, now } = needs;
      const as = { kind: 'password', browser: browserOf(visit.userAgent), now: now() } as const;
      const ticket = openTicket(keyRing, visit.ticket, as);
      if (ticket === undefined) throw new ApiProblem('sign_in_again');
      return settle(await store.asSystem((tx) => giveFactor(tx, ticket, visit, needs)), visit, needs);
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/session/passkey/options',
    summary: 'Begins a sign-in with a passkey alone: options with which the browser asks for one',
    access: 'anybody',
    answer: PasskeyOptions,
    status: 200,
    async handle({ address, userAgent }, { tries, keyRing, consoleUrl, now }) {
      const party = mustHavePasskeys(consoleUrl);
      if (!tries.take(`passkey ${networkOf(address)}`, PASSKEYS_PER_MINUTE_OF_NETWORK))
        throw new ApiProblem('too_many_tries');
      const { ticket, cookie } = makePasskeyTicket(keyRing, { browser: browserOf(userAgent), now: now() });
      return { body: await requestOptions(party, { challenge: ticket.challenge }), ticket: cookie };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/session/passkey',
    summary: 'Signs in with a passkey alone: the answer sets the session cookie',
    access: 'anybody',
    body: PasskeySignIn,
    answer: SecondFactorGiven,
    status: 200,
    async handle(visit, needs) {
      const { keyRing, store, tries, consoleUrl, now } = needs;
      mustHavePasskeys(consoleUrl);
      const isFewEnough = tries.take(`passkey ${networkOf(visit.address)}`, PASSKEYS_PER_MINUTE_OF_NETWORK);
      if (!isFewEnough) throw new ApiProblem('too_many_tries');
      const as = { kind: 'passkey', browser: browserOf(visit.userAgent), now: now() } as const;
      const ticket = openTicket(keyRing, visit.ticket, as);
      if (ticket === undefined) throw new ApiProblem('sign_in_again');
      return settle(await store.asSystem((tx) => givePasskey(tx, ticket, visit, needs)), visit, needs);
    },
  }),
];

type Given<Body> = Visit<unknown, Body, unknown>;
/** A refusal is a value: the transaction that has counted the try commits. */
type Outcome =
  | { kind: 'right'; session: string; device: string; left: number }
  | { kind: Exclude<Verdict, 'right'>; email: string | undefined }
  | { kind: 'sign_in_again' };
type OfKind<Kind extends Ticket['kind']> = Extract<Ticket, { kind: Kind }>;

async function giveFactor(
  tx: Tx,
  { id, userId, challenge }: OfKind<'password'>,
  { body, address, userAgent }: Given<FactorProof>,
  needs: AccountNeeds,
): Promise<Outcome> {
  const tried = await tryTicket(tx, { id, isPasskey: 'passkey' in body, most: TRIES_OF_TICKET });
  const user = tried && (await findUser(tx, userId));
  if (user === undefined) return { kind: 'sign_in_again' };
  const verdict = await proveFactor(tx, { user, proof: body, challenge, address }, needs);
  if (verdict !== 'right') return { kind: verdict, email: user.email };
  await useTicket(tx, id);
  const left = await countRecoveryCodes(tx, userId);
  return { kind: 'right', left, ...(await finishSignIn(tx, user, { address, userAgent }, needs)) };
}

async function givePasskey(
  tx: Tx,
  { id, challenge }: OfKind<'passkey'>,
  { body, address, userAgent }: Given<PasskeySignIn>,
  needs: AccountNeeds,
): Promise<Outcome> {
  const { passkey: response } = body;
  const passkey = await findPasskey(tx, response.id);
  const user = passkey && (await findUser(tx, passkey.user_id));
  if (user === undefined || passkey === undefined) return { kind: 'passkey_refused', email: undefined };
  if (!(await spendTicket(tx, { id, userId: user.id, validMs: TICKET_MS }))) return { kind: 'sign_in_again' };
  const isHolder = response.response.userHandle === Buffer.from(user.id).toString('base64url');
  const verdict = isHolder
    ? await provePasskey(tx, { passkey, challenge, response, address }, needs)
    : 'passkey_refused';
  if (verdict !== 'right') return { kind: verdict, email: user.email };
  const left = await countRecoveryCodes(tx, user.id);
  return { kind: 'right', left, ...(await finishSignIn(tx, user, { address, userAgent }, needs)) };
}

/** Counts the outcome, and notes a refusal for the audit log as a wrong password is noted. */
function settle(outcome: Outcome, { address }: Pick<Visit, 'address'>, { failures, metrics, log }: AccountNeeds) {
  const count = metrics?.counters('millrace_sign_ins_total');
  switch (outcome.kind) {
    case 'right': {
      count?.('right').add();
      const { session, device, left } = outcome;
      return { body: { recoveryCodesLeft: left }, session, device, ticket: null };
    }
    case 'sign_in_again':
      throw new ApiProblem('sign_in_again');
    case 'wrong_code':
    case 'too_many_codes':
    case 'passkey_refused': {
      const why: Refusal = outcome.kind;
      count?.(why).add();
      log.warn({ address, why }, 'session.refused');
      if (outcome.email !== undefined) failures.note({ email: outcome.email, address, why });
      throw new ApiProblem(why);
    }
  }
}
