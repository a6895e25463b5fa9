import { accessSync, constants } from 'node:fs';
import type { NatsFiles } from './stream/nats/nats-access.ts';

/** Each file with the setting that names it. */
const SETTINGS = {
  ca: 'MILLRACE_NATS_CA_FILE',
  certificate: 'MILLRACE_NATS_CERT_FILE',
  key: 'MILLRACE_NATS_KEY_FILE',
  nkeySeed: 'MILLRACE_NATS_NKEY_FILE',
  credentials: 'MILLRACE_NATS_CREDS_FILE',
} as const;

type Name = (typeof SETTINGS)[keyof typeof SETTINGS] | 'MILLRACE_NATS_URL' | 'MILLRACE_UNSIGNED_CONFIG';
type Reader = { text(name: Name): string; problem(name: Name, what: string): void };

export type NatsSettings = {
  natsUrl: string;
  natsFiles: NatsFiles;
  /** For the time of an upgrade from a version that does not sign config entries. */
  mayBeUnsigned: boolean;
};

/** Never repeats a value in a problem: the URL may hold a password. */
export function readNatsSettings(read: Reader): NatsSettings {
  const natsUrl = readNatsUrl(read);
  const natsFiles = readNatsFiles(read);
  if ((natsFiles.certificate === undefined) !== (natsFiles.key === undefined)) {
    read.problem('MILLRACE_NATS_CERT_FILE', 'and MILLRACE_NATS_KEY_FILE belong together: set both or none');
  }
  const isUserInUrl = servers(natsUrl).some((server) => URL.canParse(server) && new URL(server).username !== '');
  const named = [natsFiles.nkeySeed !== undefined, natsFiles.credentials !== undefined, isUserInUrl];
  if (named.filter(Boolean).length > 1) {
    read.problem(
      'MILLRACE_NATS_URL',
      'names a user, or an NKey or credentials file is set: one of the three, not more',
    );
  }
  return { natsUrl, natsFiles, mayBeUnsigned: readUnsigned(read) };
}

function readUnsigned(read: Reader): boolean {
  const text = read.text('MILLRACE_UNSIGNED_CONFIG');
  if (text !== 'refuse' && text !== 'allow') read.problem('MILLRACE_UNSIGNED_CONFIG', 'must be refuse or allow');
  return text === 'allow';
}

function readNatsUrl(read: Reader): string {
  const url = read.text('MILLRACE_NATS_URL');
  const all = servers(url);
  if (all.length === 0 || !all.every(isServer)) {
    read.problem(
      'MILLRACE_NATS_URL',
      'must be addresses such as nats://host:4222 or tls://host:4222, separated by commas',
    );
  }
  return url;
}

function servers(url: string): string[] {
  const parts = url.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => (part.includes('://') ? part : `nats://${part}`));
}

function isServer(text: string): boolean {
  return URL.canParse(text) && ['nats:', 'tls:'].includes(new URL(text).protocol);
}

function readNatsFiles(read: Reader): NatsFiles {
  const files: NatsFiles = {};
  for (const name of Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]) {
    const path = read.text(SETTINGS[name]);
    if (path === '') continue;
    files[name] = path;
    if (!isReadable(path)) read.problem(SETTINGS[name], 'names a file that this process cannot read');
  }
  return files;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
