import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedFolder } from './paths.ts';
import { INITDB_OPTIONS, loginsSql, postgresOwner, runPostgres } from './postgres.ts';

/**
 * A database folder with our logins, as `initdb` leaves it. Tests start dozens of servers, and a copy of a folder takes a tenth
 * of the processor time that `initdb` does. It is made once for each version of PostgreSQL and of the logins.
 */
export function postgresTemplate(folder?: string): string {
  const logins = loginsSql('postgres');
  const version = runPostgres('postgres', ['--version'], folder);
  const kind = createHash('sha256').update(JSON.stringify([version, INITDB_OPTIONS, logins]));
  const home = join(sharedFolder(), `millrace-postgres-template-${kind.digest('hex').slice(0, 12)}`);
  if (!existsSync(home)) makeTemplate({ home, logins, folder });
  return join(home, 'data');
}

type Template = { home: string; logins: string; folder: string | undefined };

function makeTemplate({ home, logins, folder }: Template): void {
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(`${home}-`);
  try {
    chmodSync(work, 0o755);
    const { uid, gid } = postgresOwner();
    if (uid !== undefined && gid !== undefined) chownSync(work, uid, gid);
    const data = join(work, 'data');
    runPostgres('initdb', ['-D', data, ...INITDB_OPTIONS, '--no-sync'], folder);
    // Without a server: it takes one line of statements from its input, and needs no port.
    runPostgres('postgres', ['--single', '-D', data, '-F', 'postgres'], folder, logins.replaceAll(/\s+/g, ' '));
    renameUnlessThere(work, home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Test files start side by side: the second one uses the folder that the first one made. */
function renameUnlessThere(work: string, home: string): void {
  try {
    renameSync(work, home);
  } catch (error) {
    if (!existsSync(home)) throw error;
  }
}
