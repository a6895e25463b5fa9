/** A TLS certificate that no client trusts: the ERP's backup target shows it, and deliver refuses to send there. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;
const UTF8_TEXT = 0x0c;
const UTC_TIME = 0x17;
/** `[0]`, which holds the version. */
const VERSION = 0xa0;

const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OBJECT_ID, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(OBJECT_ID, Buffer.from('550403', 'hex'));

/** Written as X.509 by hand, because Node makes keys but no certificates, and a private key does not belong into a repository. */
export function selfSigned(host: string, now: number): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_TEXT, Buffer.from(host)))));
  const body = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    // A first byte of 1 keeps the number positive.
    der(INTEGER, Buffer.from([1]), randomBytes(15)),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, utcTime(now - DAY_MS), utcTime(now + 365 * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey));
  const cert = der(SEQUENCE, body, ECDSA_WITH_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.trimEnd()}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** `YYMMDDhhmmssZ`. */
function utcTime(at: number): Buffer {
  return der(UTC_TIME, Buffer.from(`${new Date(at).toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`));
}
