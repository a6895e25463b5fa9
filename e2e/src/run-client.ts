import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const E2E_DIR = resolve(import.meta.dirname, '..');
const TIMEOUT_MS = 60_000;

/** The program in clients/ that tells the story with one library. */
export function driver(path: string): string {
  return join(E2E_DIR, 'clients', path);
}

/** A client that `get-clients` downloaded; without it a test fails, it does not skip. */
export function gotten(path: string): string {
  const place = join(E2E_DIR, '.clients', path);
  if (!existsSync(place)) throw new Error(`${place} is missing: run \`bash e2e/get-clients\` first`);
  return place;
}

/** Runs a client to its end; its libraries complain on their error output, so that is part of the failure. */
export async function runClient(program: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [[code, signal], output, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code ?? signal}:\n${output}${errors}`);
}
