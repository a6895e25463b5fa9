/** Second factors of an account: an authenticator app, passkeys, recovery codes; and the second step of a sign-in. */
import { type Static, Type } from 'typebox';
import { Id, Name, Time } from './page.ts';
import { CurrentPassword } from './password.ts';

const LONGEST = 20_000;
const Base64Url = Type.String({ maxLength: LONGEST, pattern: '^[A-Za-z0-9_-]*$' });

/** As browsers take them: `PublicKeyCredential.parseRequestOptionsFromJSON` and `parseCreationOptionsFromJSON` of WebAuthn. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown());

/** The answer of a browser to these options, in the form of its `toJSON`. Browsers add fields, which the server leaves aside. */
const Credential = {
  id: Base64Url,
  rawId: Base64Url,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Record(Type.String(), Type.Unknown()),
};
export const SignedByPasskey = Type.Object({
  ...Credential,
  response: Type.Object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: Type.Optional(Type.Union([Base64Url, Type.Null()])),
  }),
});
export const CreatedPasskey = Type.Object({
  ...Credential,
  response: Type.Object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
  }),
});

/** One of an account's second factors: the code of an authenticator app, a passkey, or a recovery code. */
export const FactorProof = Type.Union([
  Type.Object({ code: Type.String({ pattern: '^[0-9]{6}$' }) }, { additionalProperties: false }),
  Type.Object({ recoveryCode: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
  Type.Object({ passkey: SignedByPasskey }, { additionalProperties: false }),
]);

/** The password was right, and the account has a second factor: there is no session yet. */
export const SecondFactorAsked = Type.Object({
  /** The ways that the account has. */
  ways: Type.Array(Type.Enum(['code', 'passkey', 'recoveryCode'])),
  /** For the browser, where `ways` has a passkey. Its challenge works once. */
  passkeyOptions: Type.Union([PasskeyOptions, Type.Null()]),
  /** Until then the second factor can be given. */
  expiresAt: Time,
});
export const SecondFactorGiven = Type.Object({ recoveryCodesLeft: Type.Integer() });
export const PasskeySignIn = Type.Object({ passkey: SignedByPasskey }, { additionalProperties: false });

/** The session may change the ways to sign in for ten minutes. `proof` is needed of an account with a second factor. */
export const Confirmation = Type.Object(
  { password: CurrentPassword, proof: Type.Optional(FactorProof) },
  { additionalProperties: false },
);

export const Passkey = Type.Object({
  id: Id('pky'),
  name: Name,
  createdAt: Time,
  lastUsedAt: Type.Union([Time, Type.Null()]),
});
export const Factors = Type.Object({
  /** The authenticator app. */
  totp: Type.Union([Type.Object({ createdAt: Time, lastUsedAt: Type.Union([Time, Type.Null()]) }), Type.Null()]),
  passkeys: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer(),
  /** False where the installation does not name the address of its console, to which passkeys are bound. */
  canAddPasskeys: Type.Boolean(),
  /** Until then this session may change them; null when the person has to confirm first. */
  confirmedUntil: Type.Union([Time, Type.Null()]),
});

/** The only answer that ever holds the seed. It counts after its first right code. */
export const NewTotp = Type.Object({
  /** `otpauth://…`, for a QR code. */
  uri: Type.String(),
  /** The same seed in base32, to be typed. */
  secret: Type.String(),
});
export const TotpConfirmation = Type.Object(
  { code: Type.String({ pattern: '^[0-9]{6}$' }) },
  { additionalProperties: false },
);

/** The only answers that ever hold the codes; null where the account has some already. */
const ShownCodes = Type.Union([Type.Array(Type.String()), Type.Null()]);
export const TotpAdded = Type.Object({ recoveryCodes: ShownCodes });
export const PasskeyAdded = Type.Object({ passkey: Passkey, recoveryCodes: ShownCodes });
export const RecoveryCodes = Type.Object({ recoveryCodes: Type.Array(Type.String()) });

export const NewPasskey = Type.Object({ name: Name, passkey: CreatedPasskey }, { additionalProperties: false });
export const PasskeyChange = Type.Object({ name: Name }, { additionalProperties: false });

/** Whether members need a second factor. The person who switches it on has one. */
export const SecondFactorDemand = Type.Object({ isNeeded: Type.Boolean() }, { additionalProperties: false });

export type FactorProof = Static<typeof FactorProof>;
export type SignedByPasskey = Static<typeof SignedByPasskey>;
export type CreatedPasskey = Static<typeof CreatedPasskey>;
export type SecondFactorAsked = Static<typeof SecondFactorAsked>;
export type SecondFactorGiven = Static<typeof SecondFactorGiven>;
export type PasskeyOptions = Static<typeof PasskeyOptions>;
export type Passkey = Static<typeof Passkey>;
export type Factors = Static<typeof Factors>;
export type NewTotp = Static<typeof NewTotp>;
export type TotpAdded = Static<typeof TotpAdded>;
export type PasskeyAdded = Static<typeof PasskeyAdded>;
export type RecoveryCodes = Static<typeof RecoveryCodes>;
export type PasskeySignIn = Static<typeof PasskeySignIn>;
