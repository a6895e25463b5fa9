import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Report } from '../run-fault.ts';
import type { TestLine } from './failed-tests.ts';
import { isTestFile } from './planted-bug.ts';

/** `red`: a test failed, or the fault broke a promise. `broken`: nothing was tested, because the code does not load. */
export type Checked = { verdict: 'green' | 'red' | 'broken'; seconds: number; by: string[] };

/** A bug may make a test wait for ever: that is red as well. */
const TEST_WITHIN_MS = 60_000;
const CHECK_WITHIN_MS = 240_000;

/** Runs a test file or a fault in a copy of the tree. */
export async function runCheck(dir: string, check: string): Promise<Checked> {
  const startedAt = performance.now();
  const args = isTestFile(check) ? testArgs(check) : ['faults/src/run.ts', check, '--seed', '1'];
  const child = spawn(process.execPath, args, {
    cwd: dir,
    // Within a test, `node --test` would report to that one; and a bundle has no bug.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, MILLRACE_BUNDLE: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CHECK_WITHIN_MS,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  if (child.signalCode !== null) return { verdict: 'red', seconds, by: ['it did not end'] };
  const read = isTestFile(check) ? readTests(output) : readFault(output);
  return { seconds, ...read, by: read.verdict === 'broken' ? [...read.by, errors.slice(0, 1_000)] : read.by };
}

function testArgs(file: string): string[] {
  const reporter = './faults/src/planted/failed-tests.ts';
  return ['--test', `--test-timeout=${TEST_WITHIN_MS}`, `--test-reporter=${reporter}`, file];
}

type Read = Omit<Checked, 'seconds'>;

/** A file that does not load is reported as a failed test with the name of the file. */
function readTests(output: string): Read {
  const lines = output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as TestLine] : []));
  const failed = lines.flatMap((line) => ('failed' in line ? [line] : []));
  const passed = lines.flatMap((line) => ('passed' in line ? [line.passed] : [])).at(-1) ?? 0;
  const own = failed.filter(({ failed: name }) => !name.endsWith('.ts'));
  if (failed.length === 0) return { verdict: passed > 0 ? 'green' : 'broken', by: [] };
  return own.length === 0
    ? { verdict: 'broken', by: failed.map(({ why }) => why) }
    : { verdict: 'red', by: own.map(({ failed: name }) => name) };
}

function readFault(output: string): Read {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return { verdict: 'broken', by: [] };
  const { ok, failures, late } = JSON.parse(last) as Report;
  return { verdict: ok ? 'green' : 'red', by: [...failures, ...late] };
}
