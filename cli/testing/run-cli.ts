/** The command line as a child process, with its lines as they come. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '../../server/testing/until.ts';
import { MILLRACE } from './run-millrace.ts';

const PATIENCE_MS = 60_000;

export type Json = Record<string, unknown>;

export function startCli(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MILLRACE, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // oxlint-disable-next-line node/no-process-env -- the environment of the test, for its program
    env: { ...process.env, NO_COLOR: '1', XDG_CONFIG_HOME: '/nowhere', ...env },
  });
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, errors: errors, lines }));
  let isOver = false;
  void ended.then(() => (isOver = true));
  const waitFor = (claim: () => boolean, told: string) =>
    until(
      () => claim() || isOver,
      PATIENCE_MS,
      () => told,
    ).then(() => {
      if (!claim()) throw new Error(`${told}: the command ended.\n${lines.join('\n')}\n${errors}`);
    });
  return {
    child,
    lines,
    errors: () => errors,
    ended,
    json: () => lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json),
    /** Waits until the lines on both outputs make the claim true. */
    async until(claim: (lines: readonly string[], errors: string) => boolean): Promise<void> {
      await waitFor(() => claim(lines, errors), claim.toString());
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export type RunningCli = ReturnType<typeof startCli>;
