/**
 * Finds fixed sleeps in test code: a wait for a constant time is too short on a busy machine and too long on any other. Tests wait
 * for a signal or a condition with the helpers of server/testing/until.ts, which is the only file that may sleep. A random or
 * computed time and a deadline in `Promise.race` are no fixed sleeps.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const WAIT_HELPERS = 'server/testing/until.ts';
/** The test of this check plants sleeps. */
const MAY_SLEEP = new Set([WAIT_HELPERS, 'scripts/check-sleeps.test.ts']);
const TEST_CODE = /\.test\.ts$|^server\/(?:testing|stories)\//;

export type Sleep = { line: number; text: string };

/** The fixed sleeps of a file, with their lines. */
export function fixedSleeps(text: string): Sleep[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  const name = /import \{[^}]*\bsetTimeout(?: as (\w+))?[^}]*\} from '(?:node:)?timers\/promises'/.exec(code);
  const promised =
    name === null ? [] : [...code.matchAll(new RegExp(`\\b${name[1] ?? 'setTimeout'}\\(([^,()]+)[,)]`, 'g'))];
  const resolved = [...code.matchAll(/\bsetTimeout\(\w+, ([^,()]+)[,)]/g)];
  return [...promised, ...resolved]
    .filter(({ 1: time = '', index }) => isConstant(time.trim(), code) && !isDeadline(code, index))
    .map(({ 0: found, index }) => ({ line: code.slice(0, index).split('\n').length, text: found }));
}

function isConstant(time: string, code: string): boolean {
  if (/^[\d_.]+$/.test(time)) return true;
  return /^\w+$/.test(time) && new RegExp(`\\bconst ${time} = [\\d_. *+]+;`).test(code);
}

/** One of the promises of a race: it ends a wait that takes too long. */
function isDeadline(code: string, index: number): boolean {
  return code.slice(code.lastIndexOf(';', index), index).includes('Promise.race(');
}

if (import.meta.main) {
  const rootDir = resolve(import.meta.dirname, '..');
  const files = execFileSync('git', ['ls-files', '*.ts'], { cwd: rootDir, encoding: 'utf8' }).split('\n');
  for (const file of files.filter((each) => TEST_CODE.test(each) && !MAY_SLEEP.has(each))) {
    for (const { line, text } of fixedSleeps(readFileSync(join(rootDir, file), 'utf8'))) {
      console.error(`${file}:${line}: ${text}: wait for a signal, see ${WAIT_HELPERS}`);
      process.exitCode = 1;
    }
  }
}
