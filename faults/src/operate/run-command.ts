import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT_DIR } from '@millrace/engines';
import type { Settings } from '../server-process.ts';

const MILLRACE = join(ROOT_DIR, 'cli/src/main.ts');

/** One command of the operator, as a process; throws with what it said unless it ends well. */
export async function runCommand<T>(
  args: readonly string[],
  settings: Settings,
): Promise<{ answer: T; seconds: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MILLRACE, ...args, '--json'], { env: { ...process.env, ...settings } });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await ended) !== 0) throw new Error(`millrace ${args.join(' ')} failed: ${err}`);
  return { answer: JSON.parse(out) as T, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}
