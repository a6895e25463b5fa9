/** Passkeys of this browser: the questions that the browser asks its person, with the options of the server. */
import type { CreatedPasskey, PasskeyOptions, SignedByPasskey } from '@millrace/contract/control';
import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';

/** The browser gave no passkey. The message is for the person. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

export function hasPasskeys(): boolean {
  return browserSupportsWebAuthn();
}

export async function signWithPasskey(options: PasskeyOptions): Promise<SignedByPasskey> {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const signed = await startAuthentication({ optionsJSON }).catch(inWords);
  return { ...signed, clientExtensionResults: { ...signed.clientExtensionResults } };
}

export async function makePasskey(options: PasskeyOptions): Promise<CreatedPasskey> {
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const made = await startRegistration({ optionsJSON }).catch(inWords);
  return { ...made, clientExtensionResults: { ...made.clientExtensionResults } };
}

/** Browsers do not say why a person gave no passkey, and their own words are for developers. */
function inWords(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') throw new PasskeyError('This device has a passkey for your account already.');
  if (name === 'SecurityError') {
    throw new PasskeyError(
      'Passkeys work at the address of the console that the operator has set, and not at this one.',
    );
  }
  throw new PasskeyError('The browser gave no passkey: you cancelled, it took too long, or this device has none here.');
}
