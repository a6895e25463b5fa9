/** The passkeys of the own account. */
import { NewPasskey, Passkey, PasskeyAdded, PasskeyChange, PasskeyOptions } from '@millrace/contract/control';
import { newId } from '../../../store/new-id.ts';
import type { Tx } from '../../../store/open-store.ts';
import { setPasskeyChallenge, takePasskeyChallenge } from '../../../store/passkey-challenges.ts';
import { deletePasskey, insertPasskey, listPasskeys, type PasskeyRow, renamePasskey } from '../../../store/passkeys.ts';
import { findUser } from '../../../store/users.ts';
import { auditAccount } from '../../access/audit-account.ts';
import {
  beginChange,
  type FactorOwner,
  dropUnusedCodes,
  finishChange,
  firstRecoveryCodes,
} from '../../factors/change-factors.ts';
import { newChallenge } from '../../factors/new-challenge.ts';
import { creationOptions, mustHavePasskeys, type NewCredential, readCreated } from '../../factors/passkeys.ts';
import { type AccountNeeds, type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

const MAX_PASSKEYS = 20;

export const passkeyRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/passkeys/options',
    summary: 'Options with which the browser makes a passkey for you; confirm yourself first',
    access: 'user',
    answer: PasskeyOptions,
    status: 200,
    async handle({ who, address }, { store, consoleUrl }) {
      const party = mustHavePasskeys(consoleUrl);
      const { userId, sessionId } = who;
      const challenge = newChallenge();
      return store.asSystem(async (tx) => {
        await beginChange(tx, { userId, sessionId, address });
        await setPasskeyChallenge(tx, { sessionId, purpose: 'add', challenge });
        const user = found(await findUser(tx, userId));
        return { body: await creationOptions(party, { user, challenge, passkeys: await listPasskeys(tx, userId) }) };
      });
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/passkeys',
    summary: 'Adds the passkey that the browser has made; your other sessions end',
    access: 'user',
    body: NewPasskey,
    answer: PasskeyAdded,
    status: 201,
    async handle({ who, body, address }, needs) {
      const party = mustHavePasskeys(needs.consoleUrl);
      const { userId, sessionId } = who;
      // Used up before the check, and for good: a challenge that failed must not be tried again.
      const challenge = await needs.store.asSystem((tx) => takePasskeyChallenge(tx, { sessionId, purpose: 'add' }));
      const made = challenge === undefined ? undefined : await readCreated(party, challenge, body.passkey);
      if (made === undefined) throw new ApiProblem('passkey_refused');
      return needs.store.asSystem((tx) => add(tx, { userId, sessionId, address }, { ...made, name: body.name }, needs));
    },
  }),
  accountRoute({
    method: 'PATCH',
    url: '/api/v1/me/passkeys/:id',
    summary: 'Renames a passkey of yours',
    access: 'user',
    body: PasskeyChange,
    answer: Passkey,
    status: 200,
    async handle({ who, params, body, address }, { store, now }) {
      const { userId, sessionId } = who;
      return store.asSystem(async (tx) => {
        const renamed = found(await renamePasskey(tx, { id: params.id, userId }, body.name));
        const actor = { kind: 'user', id: userId, sessionId, address } as const;
        const details = { passkeyId: params.id, name: body.name };
        await auditAccount(tx, userId, { at: now(), actor, action: 'passkey.renamed', details });
        return { body: toPasskey(renamed) };
      });
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/me/passkeys/:id',
    summary: 'Removes a passkey of yours; your other sessions end. Confirm yourself first',
    access: 'user',
    status: 204,
    async handle({ who, params, address }, needs) {
      const { userId, sessionId } = who;
      await needs.store.asSystem(async (tx) => {
        const by = { userId, sessionId, address };
        await beginChange(tx, by);
        const { id, name } = found(await deletePasskey(tx, { id: params.id, userId }));
        await dropUnusedCodes(tx, userId);
        const details = { kind: 'passkey', passkeyId: id, name };
        await finishChange(tx, by, { action: 'second_factor.removed', details, notice: 'factor_removed' }, needs);
      });
      return {};
    },
  }),
];

async function add(tx: Tx, by: FactorOwner, made: NewCredential & { name: string }, needs: AccountNeeds) {
  const { userId } = by;
  await beginChange(tx, by);
  if ((await listPasskeys(tx, userId)).length >= MAX_PASSKEYS) throw tooMany();
  const recoveryCodes = await firstRecoveryCodes(tx, userId);
  const passkey = await insertPasskey(tx, { id: newId('pky'), userId, ...made });
  // The credential is known: its authenticator does not keep to the list of those that exist.
  if (passkey === undefined) throw new ApiProblem('conflict');
  const details = { kind: 'passkey', passkeyId: passkey.id, name: passkey.name };
  await finishChange(tx, by, { action: 'second_factor.added', details, notice: 'factor_added' }, needs);
  return { body: { passkey: toPasskey(passkey), recoveryCodes } };
}

export function toPasskey({ id, name, created_at, last_used_at }: PasskeyRow) {
  return { id, name, createdAt: created_at.toISOString(), lastUsedAt: last_used_at?.toISOString() ?? null };
}

function tooMany(): ApiProblem {
  const message = `cannot be added: you have ${MAX_PASSKEYS} passkeys; remove one first`;
  return new ApiProblem('invalid_request', [{ path: '/passkey', message }]);
}
