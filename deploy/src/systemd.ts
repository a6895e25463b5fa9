import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEPLOY_DIR, type Done } from './tools.ts';

export const SYSTEMD_DIR = join(DEPLOY_DIR, 'systemd');

/** A folder that `make-secrets` has filled; the arguments are the NATS servers and the database. */
export function makeSecrets(...args: string[]): Disposable & { path: string } {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-systemd-'));
  const path = join(dir, 'secrets');
  const made = run(join(SYSTEMD_DIR, 'make-secrets'), [path, ...args]);
  if (made.status !== 0) throw new Error(made.stderr);
  return { path, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

export function run(program: string, args: string[]): Done {
  return spawnSync(program, args, { encoding: 'utf8' });
}
