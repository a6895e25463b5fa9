import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildNats, NATS_VERSION } from './build-nats.ts';
import { ENGINES_DIR } from './paths.ts';
import { findPostgresFolder } from './postgres.ts';

export function getEngines(): void {
  getNats();
  getPostgres();
}

function getNats(): void {
  const binDir = join(ENGINES_DIR, 'bin');
  const found = spawnSync(join(binDir, 'nats-server'), ['--version'], { encoding: 'utf8' });
  if (found.status === 0 && found.stdout.includes(`v${NATS_VERSION}`)) return;
  const program = join(buildNats(), 'nats-server');
  mkdirSync(binDir, { recursive: true });
  // A running server keeps the file that it was started from.
  rmSync(join(binDir, 'nats-server'), { force: true });
  copyFileSync(program, join(binDir, 'nats-server'));
}

function getPostgres(): void {
  if (findPostgresFolder() !== undefined) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('PostgreSQL is missing: install it (15 or newer) so that `initdb` is in PATH');
  }
  console.error('getting PostgreSQL with `apt-get` …');
  install('apt-get', ['update', '-qq'], {});
  install('apt-get', ['install', '-y', '-qq', 'postgresql'], { DEBIAN_FRONTEND: 'noninteractive' });
}

function install(program: string, args: string[], env: Record<string, string>): void {
  const done = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });
  if (done.status !== 0)
    throw new Error(`\`${program} ${args.join(' ')}\` failed${done.error ? `: ${done.error.message}` : ''}`);
}
