/** Runs a program to its end. A failure is an error with the command and everything that the program said. */
import { spawnSync } from 'node:child_process';

export type RunOptions = { cwd?: string; env?: NodeJS.ProcessEnv; input?: string };

/** Standard output of the program. */
export function runProgram(program: string, args: readonly string[], options: RunOptions = {}): string {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, ...options });
  if (done.error !== undefined) throw new Error(`\`${program}\` cannot be run: ${done.error.message}`);
  if (done.status !== 0) {
    const command = [program, ...args].join(' ');
    throw new Error(`\`${command}\` ended with ${done.status ?? done.signal}:\n${done.stderr}${done.stdout}`);
  }
  return done.stdout;
}
