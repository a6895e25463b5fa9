/**
 * Checks one second factor of an account, and uses it up. The verdict is a value and no exception: the transaction commits in any case, and with it
 * the count of wrong codes.
 */
import type { FactorProof, SignedByPasskey } from '@millrace/contract/control';
import type { Logger } from '../../log.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import { countCode, giveBackCode } from '../../store/code-failures.ts';
import type { Tx } from '../../store/open-store.ts';
import { findPasskey, type PasskeyRow, usePasskey } from '../../store/passkeys.ts';
import { countRecoveryCodes, takeRecoveryCode } from '../../store/recovery-codes.ts';
import { findTotpSeed, useTotpStep } from '../../store/totp-seeds.ts';
import type { UserRow } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import type { MailNeeds } from '../mail/add-mail.ts';
import { tellAccount } from '../mail/tell-account.ts';
import { readSigned } from './passkeys.ts';
import { hashOfRecoveryCode } from './recovery-codes.ts';
import { relyingPartyOf } from './relying-party.ts';
import { openSeed } from './seal-seed.ts';
import { stepOfCode } from './totp.ts';

/**
 * Wrong codes a day. Three of a million codes count at any time, so a guesser who has the password hits one within a year with a
 * probability of 2 %, and the owner gets a mail each day.
 */
export const WRONG_CODES = 20;

export type ProofNeeds = {
  keyRing: KeyRing;
  consoleUrl?: string | undefined;
  mail?: MailNeeds;
  now(): Date;
  log: Logger;
};
export type ProofAsked = {
  user: UserRow;
  proof: FactorProof;
  /** For a passkey; undefined when none was given out, or it was used already. */
  challenge: string | undefined;
  address: string;
};
export type Verdict = 'right' | 'wrong_code' | 'too_many_codes' | 'passkey_refused';

export function proveFactor(tx: Tx, asked: ProofAsked, needs: ProofNeeds): Promise<Verdict> {
  const { proof } = asked;
  if ('code' in proof) return proveCode(tx, asked, proof.code, needs);
  if ('recoveryCode' in proof) return proveRecoveryCode(tx, asked, proof.recoveryCode, needs);
  return proveOwnPasskey(tx, asked, proof.passkey, needs);
}

async function proveCode(tx: Tx, { user }: ProofAsked, code: string, needs: ProofNeeds): Promise<Verdict> {
  const tries = await countCode(tx, user.id, WRONG_CODES);
  if (tries === undefined) return 'too_many_codes';
  const seed = await findTotpSeed(tx, user.id);
  const step = seed && stepOfCode(openSeed(needs.keyRing, seed), code, needs.now());
  if (seed === undefined || step === undefined || !(await useTotpStep(tx, seed.id, step))) {
    // The last one of the day: these are not typing mistakes.
    if (tries === WRONG_CODES) await tellAccount(tx, { to: user.email, kind: 'codes_guessed' }, needs);
    return 'wrong_code';
  }
  await giveBackCode(tx, user.id);
  return 'right';
}

async function proveRecoveryCode(tx: Tx, asked: ProofAsked, code: string, needs: ProofNeeds): Promise<Verdict> {
  const { user, address } = asked;
  if (!(await takeRecoveryCode(tx, user.id, hashOfRecoveryCode(user.id, code)))) return 'wrong_code';
  const left = await countRecoveryCodes(tx, user.id);
  const actor = { kind: 'user', id: user.id, address } as const;
  await auditAccount(tx, user.id, { at: needs.now(), actor, action: 'recovery_code.used', details: { left } });
  await tellAccount(tx, { to: user.email, kind: 'recovery_code_used' }, needs);
  return 'right';
}

async function proveOwnPasskey(
  tx: Tx,
  { user, challenge, address }: ProofAsked,
  response: SignedByPasskey,
  needs: ProofNeeds,
): Promise<Verdict> {
  const passkey = await findPasskey(tx, response.id);
  if (passkey === undefined || passkey.user_id !== user.id || challenge === undefined) return 'passkey_refused';
  return provePasskey(tx, { passkey, challenge, response, address }, needs);
}

export type SignedPasskey = { passkey: PasskeyRow; challenge: string; response: SignedByPasskey; address: string };

/** A signature whose counter did not go up came from a copy of the passkey, or was sent twice. */
export async function provePasskey(tx: Tx, signed: SignedPasskey, needs: ProofNeeds): Promise<Verdict> {
  const { passkey, challenge, response, address } = signed;
  const party = relyingPartyOf(needs.consoleUrl);
  const counter = party && (await readSigned(party, { challenge, passkey, response }));
  if (counter === undefined) return 'passkey_refused';
  if (await usePasskey(tx, passkey.id, counter)) return 'right';
  const { id, name, user_id: userId } = passkey;
  needs.log.warn({ userId, passkeyId: id, address }, 'passkey.counter_went_back');
  const details = { passkeyId: id, name, why: 'its counter went back: there may be a copy of it' };
  const actor = { kind: 'visitor', address } as const;
  await auditAccount(tx, userId, { at: needs.now(), actor, action: 'passkey.refused', details });
  return 'passkey_refused';
}
