import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { copyTree } from './copy-tree.ts';
import type { PlantedBug } from './planted-bug.ts';
import { type Checked, runCheck } from './run-check.ts';

/** `survived`: the check stayed green. `broken`: the check tells nothing, because it is red without the bug or does not load with it. */
export type BugReport = { bug: string; result: 'caught' | 'survived' | 'broken'; seconds: number; by: string[] };
export type PlantedReport = { ok: boolean; caught: number; bugs: BugReport[] };

const RESULTS = { red: 'caught', green: 'survived', broken: 'broken' } as const;

/** Plants one bug after the other in a copy of the tree, and expects its check to turn red. */
export async function plantBugs(
  bugs: readonly PlantedBug[],
  tell: (report: BugReport, line: string) => void,
): Promise<PlantedReport> {
  using copy = copyTree(ROOT_DIR, join(ROOT_DIR, '.runs', 'planted'));
  const sound = new Map<string, Checked>();
  const reports: BugReport[] = [];
  for (const bug of bugs) {
    const before = sound.get(bug.check) ?? (await runCheck(copy.dir, bug.check));
    sound.set(bug.check, before);
    const report =
      before.verdict === 'green'
        ? await plantOne(copy.dir, bug)
        : ({ bug: bug.name, result: 'broken', seconds: before.seconds, by: before.by } as const);
    tell(
      report,
      `${bug.name}: ${report.result} by ${bug.check} in ${report.seconds} s: ${report.by.join('; ').slice(0, 300)}`,
    );
    reports.push(report);
  }
  const caught = reports.filter(({ result }) => result === 'caught').length;
  return { ok: caught === reports.length, caught, bugs: reports };
}

async function plantOne(dir: string, bug: PlantedBug): Promise<BugReport> {
  const file = join(dir, bug.file);
  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, withBug(sound, bug));
  const { verdict, seconds, by } = await runCheck(dir, bug.check);
  writeFileSync(file, sound);
  return { bug: bug.name, result: RESULTS[verdict], seconds, by };
}

/** Throws when the text is not there exactly once: the code has changed, and the bug with it. */
export function withBug(source: string, { name, file, text, replacement }: PlantedBug): string {
  const [before, after, ...more] = source.split(text);
  if (after === undefined || more.length > 0) {
    const count = after === undefined ? 'not' : `${more.length + 1} times`;
    throw new Error(`${name}: its text is ${count} in ${file}, and has to be there once: ${text}`);
  }
  return `${before}${replacement}${after}`;
}
