/** Runs the command line as a person does, in a process of its own. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';

/**
 * The program under test: the sources, or the bundle that `MILLRACE_BUNDLE` names (`node scripts/bundle.ts DIR`), which starts four
 * times as fast and is what people install.
 */
// oxlint-disable-next-line node/no-process-env -- a setting of the test run
export const MILLRACE = bundled(process.env['MILLRACE_BUNDLE']) ?? join(import.meta.dirname, '../src/main.ts');

function bundled(dir: string | undefined): string | undefined {
  return dir === undefined ? undefined : join(dir, 'bin/millrace.cjs');
}

export type Ran = { code: number | null; out: string; err: string };

export type RunOptions = { env?: Readonly<Record<string, string>>; input?: string };

export async function runMillrace(args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<Ran> {
  // oxlint-disable-next-line node/no-process-env -- programs beside ours are found as usual, and modules are compiled once
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const kept = NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [MILLRACE, ...args], { env: { ...kept, ...env } });
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, out, err };
}
