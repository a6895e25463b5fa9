/** A session that wants to change the ways to sign in first shows again that the person is there. */
import { Confirmation, PasskeyOptions } from '@millrace/contract/control';
import type { FactorProof } from '@millrace/contract/control';
import type { Tx } from '../../../store/open-store.ts';
import { setPasskeyChallenge, takePasskeyChallenge } from '../../../store/passkey-challenges.ts';
import { listPasskeys } from '../../../store/passkeys.ts';
import { hasFactor } from '../../../store/second-factors.ts';
import { confirmSession } from '../../../store/sessions.ts';
import type { UserRow } from '../../../store/users.ts';
import { newChallenge } from '../../factors/new-challenge.ts';
import { mustHavePasskeys, requestOptions } from '../../factors/passkeys.ts';
import { proveFactor, type Verdict } from '../../factors/prove-factor.ts';
import { type AccountNeeds, type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { mustKnowPassword } from '../../access/own-password.ts';
import { ApiProblem } from '../../problems/problems.ts';

const CONFIRMED_MINUTES = 10;

export const confirmRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/confirm',
    summary:
      'Confirms that it is you, with your password and a second factor if you have one: needed to change factors',
    access: 'user',
    body: Confirmation,
    status: 204,
    async handle({ who, body, address }, needs) {
      const { store, failures } = needs;
      const { userId, sessionId } = who;
      const user = await mustKnowPassword({ userId, password: body.password, address }, needs);
      const asked = { user, proof: body.proof, sessionId, address };
      const verdict = await store.asSystem((tx) => confirm(tx, asked, needs));
      if (verdict === 'right') return {};
      if (verdict === 'unproven') throw unproven();
      failures.note({ email: user.email, address, why: verdict });
      throw new ApiProblem(verdict);
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/confirm/options',
    summary: 'Options with which the browser asks for one of your passkeys, to confirm that it is you',
    access: 'user',
    answer: PasskeyOptions,
    status: 200,
    async handle({ who }, { store, consoleUrl }) {
      const party = mustHavePasskeys(consoleUrl);
      const { userId, sessionId } = who;
      const challenge = newChallenge();
      const passkeys = await store.asSystem(async (tx) => {
        await setPasskeyChallenge(tx, { sessionId, purpose: 'confirm', challenge });
        return listPasskeys(tx, userId);
      });
      return { body: await requestOptions(party, { challenge, passkeys }) };
    },
  }),
];

type Asked = { user: UserRow; proof: FactorProof | undefined; sessionId: string; address: string };

async function confirm(tx: Tx, asked: Asked, needs: AccountNeeds): Promise<Verdict | 'unproven'> {
  const { user, proof, sessionId, address } = asked;
  if (await hasFactor(tx, user.id)) {
    if (proof === undefined) return 'unproven';
    const isPasskey = 'passkey' in proof;
    const challenge = isPasskey ? await takePasskeyChallenge(tx, { sessionId, purpose: 'confirm' }) : undefined;
    const verdict = await proveFactor(tx, { user, proof, challenge, address }, needs);
    if (verdict !== 'right') return verdict;
  }
  await confirmSession(tx, sessionId, CONFIRMED_MINUTES);
  return 'right';
}

function unproven(): ApiProblem {
  const message = 'is needed: your account has a second factor';
  return new ApiProblem('second_factor_needed', [{ path: '/proof', message }]);
}
