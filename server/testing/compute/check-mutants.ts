/**
 * `node server/testing/compute/check-mutants.ts [part of a name]`: runs random histories against each mutant of the fold, two at a time, and
 * says which of them no history noticed. About four minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { type Mutant, MUTANTS } from './mutants.ts';

/** As many as the slowest to be noticed needs, several times over. */
const HISTORIES = '5000';
/** A mutant may keep a loop from ending. */
const HANGS_AFTER_MS = 90_000;

const here = (file: string) => join(import.meta.dirname, file);
const [wanted = ''] = process.argv.slice(2);
const left = [...MUTANTS.entries()].filter(([, { name }]) => name.includes(wanted));
const survivors: string[] = [];
const startedAt = Date.now();

async function noticedBy(place: number): Promise<string | undefined> {
  const args = ['--import', here('load-mutant.ts'), here('check-histories.ts'), HISTORIES, '1', String(place)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: HANGS_AFTER_MS });
  const [told] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (child.signalCode !== null) return 'a loop that does not end';
  return child.exitCode === 0 ? undefined : (/seed \d+/.exec(told)?.[0] ?? told.slice(0, 200));
}

async function work(): Promise<void> {
  for (let next = left.shift(); next !== undefined; next = left.shift()) await check(...next);
}

async function check(place: number, { name, file }: Mutant): Promise<void> {
  const seed = await noticedBy(place);
  if (seed === undefined) survivors.push(name);
  console.log(`${seed === undefined ? 'SURVIVED' : `noticed by ${seed}`}: ${name} (${file})`);
}

const count = left.length;
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
console.log(JSON.stringify({ mutants: count, survivors, seconds: Math.round((Date.now() - startedAt) / 1_000) }));
process.exitCode = survivors.length === 0 ? 0 : 1;
