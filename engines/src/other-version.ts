import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT_DIR } from './paths.ts';

const run = promisify(execFile);

/** The tree of another commit, ready to run beside this one. */
export type OtherVersion = Disposable & { dir: string; serverMain: string };

/**
 * Takes a commit out of the repository's history into a temporary folder. The packages of others are this checkout's; our own
 * workspace packages are that commit's.
 */
export async function checkOutVersion(revision: string): Promise<OtherVersion> {
  const dir = mkdtempSync(join(tmpdir(), `millrace-${revision.slice(0, 12)}-`));
  try {
    const archive = join(dir, 'tree.tar');
    await run('git', ['-C', ROOT_DIR, 'archive', '--output', archive, revision]);
    await run('tar', ['-xf', archive, '-C', dir]);
    rmSync(archive);
    linkPackages(dir);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw new Error(`commit ${revision} cannot be taken out: a clone with its whole history is needed`, {
      cause: error,
    });
  }
  return {
    dir,
    serverMain: join(dir, 'server/src/main.ts'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function linkPackages(dir: string): void {
  const from = join(ROOT_DIR, 'node_modules');
  const to = join(dir, 'node_modules');
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    // Workspace links are relative, so the copies lead into the other tree.
    if (name === '@millrace') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}
