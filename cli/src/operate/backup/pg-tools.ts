/** PostgreSQL's own programs, run with the login that owns the tables. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { Failure } from '../../output/failures.ts';

export type Program = 'pg_dump' | 'pg_restore';

const DEBIAN_DIR = '/usr/lib/postgresql';

/** The newest one on the machine: an older pg_dump refuses a newer server. */
export async function findProgram(program: Program, serverVersion: number): Promise<string> {
  const found: { path: string; major: number }[] = [];
  for (const path of candidates(program)) found.push({ path, major: await majorOf(path) });
  const needed = Math.floor(serverVersion / 10_000);
  const best = found.filter(({ major }) => major >= needed).toSorted((one, other) => one.major - other.major)[0];
  if (best !== undefined) return best.path;
  const there =
    found.length === 0 ? 'is not installed' : `is of version ${Math.max(...found.map(({ major }) => major))}`;
  throw new Failure(`${program} ${there}, and the server is PostgreSQL ${needed}.`, {
    todo: `Install the client programs of PostgreSQL ${needed} or newer (Debian: postgresql-client-${needed}), or use --without-database and back PostgreSQL up with your own tools: docs/run/backup.md.`,
  });
}

function candidates(program: Program): string[] {
  const debian = existsSync(DEBIAN_DIR)
    ? readdirSync(DEBIAN_DIR).map((version) => join(DEBIAN_DIR, version, 'bin'))
    : [];
  // oxlint-disable-next-line node/no-process-env -- programs are found where the shell finds them
  const dirs = [...(process.env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== ''), ...debian];
  return [...new Set(dirs.map((dir) => join(dir, program)))].filter((path) => existsSync(path));
}

async function majorOf(path: string): Promise<number> {
  const child = spawn(path, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const said = await text(child.stdout).catch(() => '');
  return Number(/(\d+)(?:\.\d+)*/.exec(said)?.[1] ?? 0);
}

export type Run = { path: string; args: readonly string[]; databaseUrl: string };

/**
 * Runs one with standard output to `onOutput`. The URL goes through the environment, where other users of the machine do not see its
 * password. Row-level security binds the owner too; `millrace.system` lets it see all workspaces.
 */
export async function runProgram(
  { path, args, databaseUrl }: Run,
  onOutput: (chunk: Buffer) => Promise<void> = async () => undefined,
): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- the child gets what a shell would give it
  const env = { ...process.env, ...toPgEnv(databaseUrl), PGOPTIONS: '-c millrace.system=on' };
  const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const complaints = text(child.stderr);
  try {
    for await (const chunk of child.stdout) await onOutput(chunk as Buffer);
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
  const code = await ended;
  if (code === 0) return;
  const why = (await complaints).trim().split('\n').slice(-3).join(' ');
  throw new Failure(`${path} failed: ${why || `exit code ${code}`}`, {
    todo: 'Use the login that owns the tables in MILLRACE_MIGRATION_DATABASE_URL, and see that PostgreSQL has room.',
  });
}

/** libpq takes a whole URL as the name of the database, but only as an argument: so it is taken apart. */
export function toPgEnv(databaseUrl: string): Record<string, string> {
  const url = new URL(databaseUrl);
  const parts: Record<string, string> = {
    PGHOST: decodeURIComponent(url.searchParams.get('host') ?? url.hostname.replace(/^\[|\]$/g, '')),
    PGPORT: url.port || '5432',
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGSSLMODE: url.searchParams.get('sslmode') ?? '',
    PGSSLROOTCERT: url.searchParams.get('sslrootcert') ?? '',
    PGSSLCERT: url.searchParams.get('sslcert') ?? '',
    PGSSLKEY: url.searchParams.get('sslkey') ?? '',
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== ''));
}
