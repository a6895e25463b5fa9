import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedFolder } from './paths.ts';
import { INITDB_OPTIONS, loginsSql, postgresOwner, runPostgres } from './postgres.ts';

/** The content of a database when a test gets it. The same name stands for the same content. */
export type Prepared = { name: string; prepare(folder: string): Promise<void> };

const versions = new Map<string | undefined, string>();

/**
 * A database folder with our logins, as `initdb` leaves it, or as `prepare` does. Tests start hundreds of servers, and a copy of a folder
 * takes a tenth of the processor time that `initdb` does. It is made once for each version of PostgreSQL, of the logins and of
 * what is prepared.
 */
export async function postgresTemplate(folder: string | undefined, prepared?: Prepared): Promise<string> {
  const logins = loginsSql('postgres');
  const version = versions.get(folder) ?? runPostgres('postgres', ['--version'], folder);
  versions.set(folder, version);
  const kind = createHash('sha256').update(JSON.stringify([version, INITDB_OPTIONS, logins, prepared?.name]));
  const home = join(sharedFolder(), `millrace-postgres-template-${kind.digest('hex').slice(0, 12)}`);
  const fill = prepared?.prepare ?? ((data: string) => initialize({ data, logins, folder }));
  if (!existsSync(home)) await makeTemplate(home, fill);
  return join(home, 'data');
}

async function makeTemplate(home: string, fill: (data: string) => Promise<void> | void): Promise<void> {
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(`${home}-`);
  try {
    chmodSync(work, 0o755);
    const { uid, gid } = postgresOwner();
    if (uid !== undefined && gid !== undefined) chownSync(work, uid, gid);
    await fill(join(work, 'data'));
    renameUnlessThere(work, home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

type Initial = { data: string; logins: string; folder: string | undefined };

function initialize({ data, logins, folder }: Initial): void {
  runPostgres('initdb', ['-D', data, ...INITDB_OPTIONS, '--no-sync'], folder);
  // Without a server: it takes one line of statements from its input, and needs no port.
  runPostgres('postgres', ['--single', '-D', data, '-F', 'postgres'], folder, logins.replaceAll(/\s+/g, ' '));
}

/** Test files start side by side: the second one uses the folder that the first one made. */
function renameUnlessThere(work: string, home: string): void {
  try {
    renameSync(work, home);
  } catch (error) {
    if (!existsSync(home)) throw error;
  }
}
