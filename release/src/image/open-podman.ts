/** podman with a storage of its own: nothing of it is seen by other users of podman, and nothing is left when it is disposed. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../run-program.ts';

export type Podman = Disposable & {
  /** Program and arguments that every command begins with. */
  command: readonly [string, ...string[]];
  run(...args: string[]): string;
};

/** runc and cgroupfs also work inside a virtual machine without systemd. */
const EVERYWHERE = ['--runtime=runc', '--cgroup-manager=cgroupfs', '--events-backend=file', '--log-level=error'];

export function openPodman(): Podman {
  // Short: podman refuses a folder whose path is longer than 50 characters.
  const dir = mkdtempSync(join(tmpdir(), 'podman-'));
  const folders = ['root', 'runroot', 'tmpdir'].map((name) => {
    mkdirSync(join(dir, name));
    return `--${name}=${join(dir, name)}`;
  });
  const args = [...folders, ...EVERYWHERE];
  const run = (...more: string[]) => runProgram('podman', [...args, ...more]);
  return {
    command: ['podman', ...args],
    run,
    [Symbol.dispose]() {
      run('rm', '--all', '--force', '--time=0');
      run('rmi', '--all', '--force');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
