import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Program } from './make-calls.ts';
import type { Watched } from './watch-calls.ts';

export type Ended = { code: number | null; signal: string | null; heard: Watched; output: string; errors: string };

/** Runs make-calls.ts to its end; `once made` is called when its calls have been made. */
export async function runProgram(
  program: Omit<Program, 'report'>,
  onceMade: (child: ChildProcess) => void = () => {},
): Promise<Ended> {
  using directory = temporaryDirectory();
  const report = join(directory.path, 'report');
  const file = join(import.meta.dirname, 'make-calls.ts');
  const child = spawn(process.execPath, [file, JSON.stringify({ ...program, report })], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  child.stdout.once('data', () => onceMade(child));
  const [[code, signal], output, errors] = await Promise.all([
    once(child, 'close') as Promise<[number | null, string | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, signal, heard: readReport(report), output, errors };
}

function readReport(file: string): Watched {
  const heard: Watched = { sent: [], failed: [], dropped: [], codes: new Set() };
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  for (const line of lines) {
    const { kind, ids } = JSON.parse(line) as { kind: 'sent' | 'failed' | 'dropped'; ids: string[] };
    heard[kind].push(...ids);
  }
  return heard;
}

export function temporaryDirectory(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'millrace-node-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
