import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Report } from '../run-fault.ts';
import type { TestLine } from './failed-tests.ts';
import { isTestFile } from './planted-bug.ts';

/**
 * `red`: a test failed, or the fault broke a promise. `broken`: nothing was tested, because the code does not load. `seconds`: until the
 * first test failed, or the check was over.
 */
export type Checked = { verdict: 'green' | 'red' | 'broken'; seconds: number; by: string[] };

/** A bug may make a test wait for ever: that is red as well. */
const TEST_WITHIN_MS = 60_000;
const CHECK_WITHIN_MS = 240_000;

/** Runs a test file or a fault in a copy of the tree. */
export async function runCheck(dir: string, check: string): Promise<Checked> {
  const startedAt = performance.now();
  const secondsAt = (at: number) => Math.round((at - startedAt) / 100) / 10;
  const child = startCheck(dir, check);
  const lines: string[] = [];
  let redAt: number | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (!isTestFile(check) || failedIn(line) === undefined) return;
    redAt ??= performance.now();
    // The first failure is enough. A test with engines ends by itself, because it has to stop them.
    if (!hasEngines(check)) killAll(child);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const [errors] = await Promise.all([text(child.stderr), ended]);
  killAll(child);
  const seconds = secondsAt(redAt ?? performance.now());
  if (child.signalCode !== null && redAt === undefined) return { verdict: 'red', seconds, by: ['it did not end'] };
  const read = isTestFile(check) ? readTests(lines) : readFault(lines);
  return { seconds, ...read, by: read.verdict === 'broken' ? [...read.by, errors.slice(0, 1_000)] : read.by };
}

/** In a process group of its own. */
function startCheck(dir: string, check: string) {
  const args = isTestFile(check) ? testArgs(check) : ['faults/src/run.ts', check, '--seed', '1'];
  const child = spawn(process.execPath, args, {
    cwd: dir,
    // Within a test, `node --test` would report to that one; and a bundle has no bug.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, MILLRACE_BUNDLE: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CHECK_WITHIN_MS,
    detached: true,
  });
  const endWithUs = () => void child.kill();
  process.once('exit', endWithUs);
  child.once('close', () => process.removeListener('exit', endWithUs));
  return child;
}

function hasEngines(check: string): boolean {
  return !isTestFile(check) || check.endsWith('.integration.test.ts');
}

/** Its whole group, also when it is gone itself: a runner that breaks off leaves engines behind. */
function killAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function testArgs(file: string): string[] {
  const reporter = './faults/src/planted/failed-tests.ts';
  return ['--test', `--test-timeout=${TEST_WITHIN_MS}`, `--test-reporter=${reporter}`, file];
}

/** The name of the test that a line says has failed. A file that does not load is reported as a test with the name of the file. */
function failedIn(line: string): string | undefined {
  const read = testLine(line);
  return read !== undefined && 'failed' in read && !read.failed.endsWith('.ts') ? read.failed : undefined;
}

function testLine(line: string): TestLine | undefined {
  return line.startsWith('{') ? (JSON.parse(line) as TestLine) : undefined;
}

type Read = Omit<Checked, 'seconds'>;

function readTests(lines: readonly string[]): Read {
  const failed = lines.flatMap((line) => failedIn(line) ?? []);
  if (failed.length > 0) return { verdict: 'red', by: failed };
  const read = lines.flatMap((line) => testLine(line) ?? []);
  const notLoaded = read.flatMap((line) => ('failed' in line ? [line.why] : []));
  const isAnyPassed = read.some((line) => 'passed' in line && line.passed > 0);
  return { verdict: notLoaded.length === 0 && isAnyPassed ? 'green' : 'broken', by: notLoaded };
}

function readFault(lines: readonly string[]): Read {
  const last = lines.at(-1) ?? '';
  if (!last.startsWith('{')) return { verdict: 'broken', by: [] };
  const { ok, failures, late } = JSON.parse(last) as Report;
  return { verdict: ok ? 'green' : 'red', by: [...failures, ...late] };
}
