import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type Running = { cwd: string; env?: Record<string, string>; input?: string };

/** Returns the program's output; a test that runs it promises that it exits with 0. */
export async function runProgram(
  program: string,
  args: string[],
  { cwd, env = {}, input = '' }: Running,
): Promise<string> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  // A program that has ended before it read its input breaks the pipe; its exit code says whether that is wrong.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [[code], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  assert.equal(code, 0, `${program} ${args.join(' ')}:\n${output}${errors}`);
  return output;
}
