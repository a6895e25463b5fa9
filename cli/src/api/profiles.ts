/** Profiles: the servers that a person has signed in to, in a file that only this person can read. */
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { Failure } from '../output/failures.ts';

export const DEFAULT_PROFILE = 'default';

/** One of `token` and `session`: a script signs in with a token, a person with a password, which gives a session. */
export type Profile = {
  server: string;
  collect?: string;
  workspace?: string;
  token?: string;
  session?: string;
};

export type Profiles = Record<string, Profile>;

export function profilesFile(configDir: string): string {
  return join(configDir, 'profiles.json');
}

export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw new Failure(`The profiles in ${file} cannot be read: ${messageOf(error)}.`, {
      todo: 'Check the permissions of the file, or give --server and --token.',
    });
  });
  if (text === undefined) return {};
  await mustBePrivate(file);
  try {
    return (JSON.parse(text) as { profiles: Profiles }).profiles ?? {};
  } catch {
    throw new Failure(`The profiles in ${file} are not valid JSON.`, {
      todo: 'Delete the file, and sign in again with millrace login.',
    });
  }
}

/** Writes the whole file beside the old one first: a crash leaves one of the two. */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  const draft = `${file}.${process.pid}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(draft, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, file);
  } catch (error) {
    throw new Failure(`The profile cannot be saved in ${file}: ${messageOf(error)}.`, {
      todo: 'Set XDG_CONFIG_HOME to a folder that you may write, or use MILLRACE_URL and MILLRACE_TOKEN.',
    });
  }
}

/** A file that others can read holds no secret any more; Windows has no such bits. */
async function mustBePrivate(file: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  throw new Failure(`Other users can read ${file}, which holds your credentials.`, {
    exit: 'config',
    todo: `Run: chmod 600 ${file}. Sign in anew if you do not trust the other users of this machine.`,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
