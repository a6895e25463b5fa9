/** `dev.json` of the data folder: which version wrote it, with which database, the secrets that were generated for it, the last ports. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@millrace/server/version';
import { Failure } from '../output/failures.ts';

export type DatabaseKind = 'postgresql' | 'pglite';

export const STATE = 'dev.json';
/** Tells our `dev.json` from those of other programs. */
const MARK = 'millrace dev';

export type DevState = {
  madeBy: typeof MARK;
  version: string;
  database: DatabaseKind;
  secrets: {
    /** Encrypts the secrets of destinations: MILLRACE_KEYS. */
    key: string;
    token: string;
    /** Of the people of the made-up shop. */
    password: string;
    natsPassword: string;
    databasePassword: string;
  };
  ports: { collect: number; console: number };
};

/** Whether Millrace wrote this text, even if the rest of it is damaged: the mark stands first. */
export function hasMark(text: string): boolean {
  return /^\{\s*"madeBy":\s*"millrace dev"/.test(text);
}

const FIRST_PORTS = { collect: 8080, console: 8081 };

/** The state of the folder, or a new one. `wanted` is undefined when any database will do. */
export function readState(dir: string, wanted: DatabaseKind | undefined, otherwise: DatabaseKind): DevState {
  const file = join(dir, STATE);
  if (!existsSync(file)) return newState(wanted ?? otherwise);
  const state = parse(readFileSync(file, 'utf8'), dir);
  const newStart = 'Remove the data with --wipe, or name another folder: --data DIR.';
  if (isNewer(state.version, VERSION)) {
    throw new Failure(`The data in ${dir} is of Millrace ${state.version}, and this is ${VERSION}.`, {
      todo: `Run that version (npx millrace@${state.version} dev). ${newStart}`,
    });
  }
  if (wanted !== undefined && wanted !== state.database) {
    throw new Failure(`The data in ${dir} is that of ${state.database}, not of ${wanted}.`, { todo: newStart });
  }
  return { ...state, version: VERSION };
}

export function writeState(dir: string, state: DevState): void {
  const draft = join(dir, `${STATE}.new`);
  writeFileSync(draft, JSON.stringify(state, null, 2), { mode: 0o600 });
  renameSync(draft, join(dir, STATE));
}

function parse(text: string, dir: string): DevState {
  try {
    return JSON.parse(text) as DevState;
  } catch {
    throw new Failure(`${join(dir, STATE)} cannot be read: it is not JSON.`, {
      todo: 'Remove the data with --wipe, or name another folder: --data DIR.',
    });
  }
}

function newState(database: DatabaseKind): DevState {
  const secret = (bytes: number) => randomBytes(bytes).toString('hex');
  return {
    madeBy: MARK,
    version: VERSION,
    database,
    secrets: {
      key: randomBytes(32).toString('base64'),
      token: secret(24),
      password: secret(8),
      natsPassword: secret(16),
      databasePassword: secret(16),
    },
    ports: FIRST_PORTS,
  };
}

/** Compares the numbers of two versions; a pre-release counts as its release. */
function isNewer(version: string, than: string): boolean {
  const numbers = (text: string) => text.split('-')[0]?.split('.').map(Number) ?? [];
  const [ours, theirs] = [numbers(than), numbers(version)];
  const at = theirs.findIndex((number, i) => number !== (ours[i] ?? 0));
  return at >= 0 && (theirs[at] ?? 0) > (ours[at] ?? 0);
}
