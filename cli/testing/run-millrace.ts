/** Runs the command line as a person does, in a process of its own. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';

export const MILLRACE = join(import.meta.dirname, '../src/main.ts');

export type Ran = { code: number | null; out: string; err: string };

export type RunOptions = { env?: Readonly<Record<string, string>>; input?: string };

export async function runMillrace(args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<Ran> {
  // oxlint-disable-next-line node/no-process-env -- programs beside ours are found as usual
  const child = spawn(process.execPath, [MILLRACE, ...args], { env: { PATH: process.env['PATH'], ...env } });
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, out, err };
}
