/** Passkeys as @simplewebauthn/server checks them. Every use asks the authenticator to verify the person: a PIN, a finger, a face. */
import type { CreatedPasskey, PasskeyOptions, SignedByPasskey } from '@millrace/contract/control';
import type { AuthenticationResponseJSON, AuthenticatorTransport } from '@simplewebauthn/server';
import type { PasskeyRow } from '../../store/passkeys.ts';
import { ApiProblem } from '../problems/problems.ts';
import { type RelyingParty, relyingPartyOf } from './relying-party.ts';

/** Loaded with the first passkey: it takes 27 MB, and processes without passkeys should start without it. */
const webauthn = () => import('@simplewebauthn/server');

const TIMEOUT_MS = 5 * 60_000;
/** Ed25519, ES256 and RS256, as COSE numbers them: authenticators of today have one of these. */
const ALGORITHMS = [-8, -7, -257];
const VERIFIED = { residentKey: 'required', userVerification: 'required' } as const;

export function mustHavePasskeys(consoleUrl: string | undefined): RelyingParty {
  const party = relyingPartyOf(consoleUrl);
  if (party === undefined) throw new ApiProblem('no_passkeys');
  return party;
}

type Owner = { id: string; email: string; name: string };

/** For a new passkey, which authenticators list by the address of the account and find without it. */
export async function creationOptions(
  party: RelyingParty,
  { user, challenge, passkeys }: { user: Owner; challenge: string; passkeys: readonly PasskeyRow[] },
): Promise<PasskeyOptions> {
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: party.id,
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.email,
    userDisplayName: user.name,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: passkeys.map(described),
    authenticatorSelection: VERIFIED,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return { ...options };
}

/** Without passkeys the browser offers those that it has for this site. */
export async function requestOptions(
  party: RelyingParty,
  { challenge, passkeys }: { challenge: string; passkeys?: readonly PasskeyRow[] },
): Promise<PasskeyOptions> {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    userVerification: VERIFIED.userVerification,
    ...(passkeys === undefined ? {} : { allowCredentials: passkeys.map(described) }),
  });
  return { ...options };
}

export type NewCredential = { credentialId: string; publicKey: Uint8Array; counter: number; transports: string[] };

/** Undefined for a response that this site did not ask for, or that is not signed as it should be. */
export async function readCreated(
  party: RelyingParty,
  challenge: string,
  response: CreatedPasskey,
): Promise<NewCredential | undefined> {
  const { verifyRegistrationResponse } = await webauthn();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => REFUSED);
  if (!verified || registrationInfo === undefined) return undefined;
  const { id, publicKey, counter } = registrationInfo.credential;
  return { credentialId: id, publicKey, counter, transports: response.response.transports ?? [] };
}

/** The counter of the signature; undefined for a response that is not signed by this passkey for this challenge. */
export async function readSigned(
  party: RelyingParty,
  { challenge, passkey, response }: { challenge: string; passkey: PasskeyRow; response: SignedByPasskey },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await webauthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    // The store compares the counter, in one step with its change.
    credential: { id: passkey.credential_id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    requireUserVerification: true,
  }).catch(() => REFUSED);
  return verified ? authenticationInfo?.newCounter : undefined;
}

const REFUSED = { verified: false, registrationInfo: undefined, authenticationInfo: undefined } as const;

function described({ credential_id: id, transports }: PasskeyRow) {
  return { id, transports: transports as AuthenticatorTransport[] };
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge, 'base64url'));
}
