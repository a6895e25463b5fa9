/**
 * The tarballs of `npm run pack -- .runs/packed`, installed as a stranger does it: into an empty folder, by an ordinary user, without
 * scripts, with a PATH that has Node and npm and nothing else.
 */
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

const PACKED_DIR = join(ROOT_DIR, '.runs/packed');
/** The user `nobody`, whom every Linux has: root runs the installation as this user. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

export type Installed = Disposable & {
  /** Has everything else in it; the user may write here. */
  dir: string;
  /** Where the packages were installed. */
  appDir: string;
  /** The words before a program that make the ordinary user run it. */
  asUser: string[];
  env: NodeJS.ProcessEnv;
  run(command: string, ...args: string[]): SpawnSyncReturns<string>;
};

export function packedTarballs(): string[] {
  const files = existsSync(PACKED_DIR) ? readdirSync(PACKED_DIR).filter((name) => name.endsWith('.tgz')) : [];
  if (files.length === 0) throw new Error('nothing is packed: `npm run pack -- .runs/packed` first');
  return files.map((name) => join(PACKED_DIR, name));
}

export function installPacked(): Installed {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-packed-'));
  chmodSync(dir, 0o755);
  const [appDir, homeDir, binDir] = ['app', 'home', 'bin'].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [appDir, homeDir]) ownFolder(folder);
  makePath(binDir);
  const tarballs = packedTarballs().map((file) => copyInto(dir, file));
  const asUser = IS_ROOT ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : [];
  const env = strangersEnvironment(homeDir, binDir);
  const run = (command: string, ...args: string[]) => {
    const [first = command, ...rest] = [...asUser.map(absolute), join(binDir, command), ...args];
    return spawnSync(first, rest, { cwd: appDir, env, encoding: 'utf8' });
  };
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const done = run('npm', 'install', ...options, ...tarballs);
  if (done.status !== 0) throw new Error(`npm install failed: ${done.stderr || done.error?.message}`);
  const remove = () => rmSync(dir, { recursive: true, force: true });
  return { dir, appDir, asUser: asUser.map(absolute), env, run, [Symbol.dispose]: remove };
}

/** A folder that belongs to the ordinary user. */
export function ownFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  if (IS_ROOT) chownSync(path, NOBODY, NOBODY);
  return path;
}

/** Node, npm, and a shell for npm: no Go, no git, no package manager of the system. */
function makePath(binDir: string): void {
  mkdirSync(binDir);
  copyFileSync(process.execPath, join(binDir, 'node'));
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim());
  symlinkSync(npm, join(binDir, 'npm'));
  symlinkSync(join(dirname(npm), 'npx-cli.js'), join(binDir, 'npx'));
  for (const program of ['sh', 'env']) symlinkSync(absolute(program), join(binDir, program));
}

function copyInto(dir: string, file: string): string {
  const copy = join(dir, file.slice(PACKED_DIR.length + 1));
  copyFileSync(file, copy);
  return copy;
}

/** Keeps what a machine needs to reach its registry; our own settings and npm's, which belong to this checkout, are left out. */
function strangersEnvironment(home: string, path: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MILLRACE_|npm_|NODE_TEST_CONTEXT)/.test(name));
  return { ...Object.fromEntries(kept), HOME: home, PATH: path, NO_COLOR: '1' };
}

function absolute(program: string): string {
  if (program.startsWith('-') || program.startsWith('/')) return program;
  return execFileSync('which', [program], { encoding: 'utf8' }).trim();
}
