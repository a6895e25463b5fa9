import { accessSync, constants } from 'node:fs';
import { type Cell, CELL_NAME, MAIN_CELL, samePlace } from './domain/configuration.ts';
import type { NatsFiles } from './stream/nats/nats-access.ts';

/** Each file with the setting that names it. */
const SETTINGS = {
  ca: 'MILLRACE_NATS_CA_FILE',
  certificate: 'MILLRACE_NATS_CERT_FILE',
  key: 'MILLRACE_NATS_KEY_FILE',
  nkeySeed: 'MILLRACE_NATS_NKEY_FILE',
  credentials: 'MILLRACE_NATS_CREDS_FILE',
} as const;

type Name =
  | (typeof SETTINGS)[keyof typeof SETTINGS]
  | 'MILLRACE_NATS_URL'
  | 'MILLRACE_UNSIGNED_CONFIG'
  | 'MILLRACE_CELLS'
  | 'MILLRACE_CELL';
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
  if (!areServers(url)) {
    read.problem(
      'MILLRACE_NATS_URL',
      'must be addresses such as nats://host:4222 or tls://host:4222, separated by commas',
    );
  }
  return url;
}

/** Whether these are addresses of NATS servers, separated by commas. */
function areServers(url: string): boolean {
  const all = servers(url);
  return all.length > 0 && all.every(isServer);
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

export type CellSettings = {
  /** The cell of this process: deliver serves it, and collect reads its configuration. */
  cell: string;
  /** All cells, `main` first. */
  cells: readonly Cell[];
};

type Given = { url?: unknown; spare?: unknown };

const FORM = 'must be JSON such as {"eu":{"url":"nats://eu:4222","spare":"main"}}';

/** Never repeats a value in a problem: a URL may hold a password. */
export function readCells(read: Reader, natsUrl: string, roles: readonly string[]): CellSettings {
  const problem = (what: string) => read.problem('MILLRACE_CELLS', what);
  const given = readGiven(read.text('MILLRACE_CELLS'));
  if (given === undefined) problem(FORM);
  const { [MAIN_CELL]: main, ...others } = given ?? {};
  if (main?.url !== undefined) problem(`gives main a url: that is MILLRACE_NATS_URL`);
  const all = Object.entries({ [MAIN_CELL]: { ...main, url: natsUrl }, ...others });
  const names = all.map(([name]) => name);
  const cells: Cell[] = [];
  for (const [name, { url, spare }] of all) {
    if (!CELL_NAME.test(name)) problem('has a name that is not a-z, 0-9 and -, at most 32, beginning with a letter');
    const servers = typeof url === 'string' ? url : '';
    if (name !== MAIN_CELL && !areServers(servers)) problem(`${FORM}: ${name} has no such url`);
    const isSpare = typeof spare === 'string' && spare !== name && names.includes(spare);
    if (spare !== undefined && !isSpare) problem(`gives ${name} a spare that is no other cell`);
    cells.push({
      name,
      url: asSameUser(servers, natsUrl),
      ...(isSpare ? { spare } : {}),
    });
  }
  const [one, other] = samePlace(names) ?? [];
  if (other !== undefined)
    problem(`names ${one} and ${other}, which get the same number: name the new one differently`);
  const cell = read.text('MILLRACE_CELL');
  if (!names.includes(cell)) read.problem('MILLRACE_CELL', 'must be main or a cell of MILLRACE_CELLS');
  if (cell !== MAIN_CELL && roles.some((role) => role === 'control' || role === 'compute')) {
    read.problem('MILLRACE_CELL', 'must be main in a process that plays control or compute: those serve all cells');
  }
  return { cell, cells };
}

/** A URL without a user gets that of MILLRACE_NATS_URL, so that every role can have the same MILLRACE_CELLS. */
function asSameUser(url: string, natsUrl: string): string {
  const user = /^(?:\w+:\/\/)?([^@,/]+)@/.exec(natsUrl.trim())?.[1];
  if (user === undefined || url.includes('@')) return url;
  return url
    .split(',')
    .map((server) =>
      server.trim().replace(/^(?:(\w+):\/\/)?/, (_, scheme?: string) => `${scheme ?? 'nats'}://${user}@`),
    )
    .join(',');
}

/** Undefined for text that is not an object of objects. */
function readGiven(text: string): Record<string, Given> | undefined {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
    return isObject(value) && Object.values(value as object).every(isObject)
      ? (value as Record<string, Given>)
      : undefined;
  } catch {
    return undefined;
  }
}
