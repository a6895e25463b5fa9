/** A passkey in software: makes and signs what an authenticator would, also wrongly on purpose. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { CreatedPasskey, PasskeyOptions, SignedByPasskey } from '@millrace/contract/control';

export type SoftPasskey = ReturnType<typeof openSoftPasskey>;

type Site = { rpId: string; origin: string };
/** Where an answer differs from that of an honest authenticator. */
type Change = {
  challenge?: string;
  origin?: string;
  /** Of the signature; one more than the last unless it is said here. */
  counter?: number;
  isVerified?: boolean;
  userHandle?: string;
};

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openSoftPasskey(site: Site) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let counter = 0;
  let owner = '';

  const head = (flags: number, count: number, { isVerified = true }: Change) => {
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags | PRESENT | (isVerified ? VERIFIED : 0), 0);
    rest.writeUInt32BE(count, 1);
    return Buffer.concat([sha256(Buffer.from(site.rpId)), rest]);
  };
  const clientData = (type: string, asked: PasskeyOptions, { challenge, origin = site.origin }: Change) => {
    const about = { type, challenge: challenge ?? asked['challenge'], origin, crossOrigin: false };
    return Buffer.from(JSON.stringify(about));
  };
  const named = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' as const };

  return {
    id: named.id,
    create(asked: PasskeyOptions, change: Change = {}): CreatedPasskey {
      owner = (asked['user'] as { id: string }).id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey.export({ format: 'jwk' }))]);
      const authData = Buffer.concat([head(HAS_KEY, counter, change), credential]);
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text('none'),
        text('attStmt'),
        Buffer.from([0xa0]),
        text('authData'),
        bytes(authData),
      ]);
      const response = {
        clientDataJSON: clientData('webauthn.create', asked, change).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      };
      return { ...named, clientExtensionResults: {}, response };
    },
    sign(asked: PasskeyOptions, change: Change = {}): SignedByPasskey {
      counter = change.counter ?? counter + 1;
      const authData = head(0, counter, change);
      const data = clientData('webauthn.get', asked, change);
      const response = {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey).toString('base64url'),
        userHandle: change.userHandle ?? owner,
      };
      return { ...named, clientExtensionResults: {}, response };
    },
  };
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** CBOR (RFC 8949), as little of it as is needed. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}

function bytes(value: Buffer): Buffer {
  const length = Buffer.alloc(3, 0x59);
  length.writeUInt16BE(value.length, 1);
  return Buffer.concat([length, value]);
}

/** RFC 9053: an ES256 key on the curve P-256. */
function coseKey({ x = '', y = '' }: { x?: string; y?: string }): Buffer {
  const point = (value: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(value, 'base64url')]);
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    point(x),
    Buffer.from([0x22]),
    point(y),
  ]);
}
