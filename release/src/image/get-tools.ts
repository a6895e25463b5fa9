/** The programs that build and run the image here: found in PATH, or installed with apt-get. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { runProgram } from '../run-program.ts';
import { ownPlatform, type Platform, PLATFORMS } from './platforms.ts';

/** Debian's package of each program. */
const PACKAGES: Readonly<Record<string, string>> = {
  podman: 'podman',
  runc: 'runc',
  strip: 'binutils',
  'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu',
  'x86_64-linux-gnu-strip': 'binutils-x86-64-linux-gnu',
};

/** The strip of this machine knows only the machine's own files. */
export function stripProgram(platform: Platform): string {
  return platform === ownPlatform() ? 'strip' : `${PLATFORMS[platform].gnu}-strip`;
}

export function getTools(platforms: readonly Platform[]): void {
  const needed = ['podman', 'runc', ...platforms.map(stripProgram)];
  const missing = needed.filter((program) => !isInPath(program)).map((program) => PACKAGES[program] ?? program);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      `${missing.join(', ')} missing: install it with the package manager of this machine, then try again`,
    );
  }
  process.stderr.write(`getting ${missing.join(', ')} with apt-get …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  runProgram('apt-get', ['update', '-qq'], { env });
  runProgram('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env });
}

function isInPath(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}
