/** The authenticator app and the recovery codes of the own account, and a look at all its factors. */
import { Factors, NewTotp, RecoveryCodes, TotpAdded, TotpConfirmation } from '@millrace/contract/control';
import { randomBytes } from 'node:crypto';
import { newId } from '../../../store/new-id.ts';
import { listPasskeys } from '../../../store/passkeys.ts';
import { countFactors } from '../../../store/second-factors.ts';
import { confirmedUntil } from '../../../store/sessions.ts';
import {
  confirmTotpSeed,
  deleteTotpSeed,
  findEnrolledSeed,
  findTotpSeed,
  insertTotpSeed,
} from '../../../store/totp-seeds.ts';
import { findUser } from '../../../store/users.ts';
import { beginChange, dropUnusedCodes, finishChange, firstRecoveryCodes } from '../../factors/change-factors.ts';
import { renewRecoveryCodes } from '../../factors/recovery-codes.ts';
import { relyingPartyOf } from '../../factors/relying-party.ts';
import { openSeed, sealSeed } from '../../factors/seal-seed.ts';
import { otpauthUri, SEED_BYTES, stepOfCode, toBase32 } from '../../factors/totp.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { toPasskey } from './passkeys.ts';

const CODES_PER_MINUTE = 10;

export const factorRoutes: AccountRoute[] = [
  accountRoute({
    method: 'GET',
    url: '/api/v1/me/factors',
    summary: 'Your second factors',
    access: 'user',
    answer: Factors,
    status: 200,
    async handle({ who: { userId, sessionId } }, { store, consoleUrl }) {
      return store.asSystem(async (tx) => {
        const seed = await findTotpSeed(tx, userId);
        const { recovery_codes } = await countFactors(tx, userId);
        const until = await confirmedUntil(tx, sessionId);
        const lastUsedAt = seed?.last_used_at?.toISOString() ?? null;
        const body = {
          totp: seed === undefined ? null : { createdAt: seed.created_at.toISOString(), lastUsedAt },
          passkeys: (await listPasskeys(tx, userId)).map(toPasskey),
          recoveryCodesLeft: recovery_codes,
          canAddPasskeys: relyingPartyOf(consoleUrl) !== undefined,
          confirmedUntil: until?.toISOString() ?? null,
        };
        return { body };
      });
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/totp',
    summary: 'Makes the seed of a new authenticator app, which counts after its first code; confirm yourself first',
    access: 'user',
    answer: NewTotp,
    status: 201,
    async handle({ who, address }, { store, keyRing, consoleUrl }) {
      const { userId, sessionId } = who;
      const seed = randomBytes(SEED_BYTES);
      const { email } = await store.asSystem(async (tx) => {
        await beginChange(tx, { userId, sessionId, address });
        const id = newId('otp');
        await insertTotpSeed(tx, { id, userId, sessionId, sealed: sealSeed(keyRing, id, seed) });
        return found(await findUser(tx, userId));
      });
      const host = URL.parse(consoleUrl ?? '')?.host ?? 'Millrace';
      return { body: { uri: otpauthUri(seed, { email, host }), secret: toBase32(seed) } };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/totp/confirm',
    summary: 'Adds the authenticator app, by its first code; it replaces the one before, and your other sessions end',
    access: 'user',
    body: TotpConfirmation,
    answer: TotpAdded,
    status: 200,
    async handle({ who, body, address }, needs) {
      const { store, keyRing, tries, now } = needs;
      const { userId, sessionId } = who;
      if (!tries.take(`code ${userId}`, CODES_PER_MINUTE)) throw new ApiProblem('too_many_tries');
      return store.asSystem(async (tx) => {
        const by = { userId, sessionId, address };
        await beginChange(tx, by);
        const seed = found(await findEnrolledSeed(tx, who));
        const step = stepOfCode(openSeed(keyRing, seed), body.code, now());
        if (step === undefined) throw new ApiProblem('wrong_code');
        const recoveryCodes = await firstRecoveryCodes(tx, userId);
        await confirmTotpSeed(tx, seed, step);
        await finishChange(tx, by, { ...ADDED, details: { kind: 'app' } }, needs);
        return { body: { recoveryCodes } };
      });
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/me/totp',
    summary: 'Removes your authenticator app; your other sessions end. Confirm yourself first',
    access: 'user',
    status: 204,
    async handle({ who, address }, needs) {
      const { userId, sessionId } = who;
      await needs.store.asSystem(async (tx) => {
        const by = { userId, sessionId, address };
        await beginChange(tx, by);
        if (!(await deleteTotpSeed(tx, userId))) throw new ApiProblem('not_found');
        await dropUnusedCodes(tx, userId);
        await finishChange(tx, by, { ...REMOVED, details: { kind: 'app' } }, needs);
      });
      return {};
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/recovery-codes',
    summary: 'Makes ten new recovery codes in place of those before, shown once. Confirm yourself first',
    access: 'user',
    answer: RecoveryCodes,
    status: 201,
    async handle({ who, address }, needs) {
      const { userId, sessionId } = who;
      return needs.store.asSystem(async (tx) => {
        const by = { userId, sessionId, address };
        await beginChange(tx, by);
        const { has_totp, passkeys } = await countFactors(tx, userId);
        if (!has_totp && passkeys === 0) throw new ApiProblem('wrong_state');
        const recoveryCodes = await renewRecoveryCodes(tx, userId);
        await finishChange(tx, by, { action: 'recovery_codes.made', notice: 'factor_added' }, needs);
        return { body: { recoveryCodes } };
      });
    },
  }),
];

const ADDED = { action: 'second_factor.added', notice: 'factor_added' } as const;
const REMOVED = { action: 'second_factor.removed', notice: 'factor_removed' } as const;
