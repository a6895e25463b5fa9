/**
 * Finds fixed sleeps in test code: a wait for a constant time is too short on a busy machine and too long on any other. Tests wait
 * for a signal or a condition with the helpers of server/testing/until.ts, which is the only file that may sleep. A random or
 * computed time and a deadline in `Promise.race` are no fixed sleeps.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, report, ROOT_DIR } from './project-files.ts';

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
  const files = projectFiles('*.ts').filter((file) => TEST_CODE.test(file) && !MAY_SLEEP.has(file));
  report(
    files.flatMap((file) =>
      fixedSleeps(readFileSync(join(ROOT_DIR, file), 'utf8')).map(
        ({ line, text }) => `${file}:${line}: ${text}: wait for a signal, see ${WAIT_HELPERS}`,
      ),
    ),
  );
}
