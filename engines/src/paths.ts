import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT_DIR = resolve(import.meta.dirname, '../..');
export const ENGINES_DIR = join(ROOT_DIR, '.engines');

/** PostgreSQL refuses to run as root, and the user that root lends it to must be able to reach its programs and folders. */
export function sharedFolder(): string {
  return process.getuid?.() === 0 ? tmpdir() : ENGINES_DIR;
}

/** The pinned nats-server, or an error that says how to get it: a test without its engine fails, it does not skip. */
export function natsServerBinary(): string {
  const binary = join(ENGINES_DIR, 'bin', 'nats-server');
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`scripts/engines get\` first`);
  return binary;
}
