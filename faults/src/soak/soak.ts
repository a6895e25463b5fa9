/**
 * `npm run soak [-- --minutes 480] [--slice 60] [--seed N] [--dir DIR]`: steady load and a trouble a minute, in slices. A soak that was
 * interrupted goes on where it was: DIR has all slices that were finished, and their plots in soak.svg. Ends with one line of JSON; the exit code
 * is the verdict, and a slice that fails ends the soak.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT_DIR } from '@millrace/engines';
import { type Report, runFault } from '../run-fault.ts';
import { type DrawnSlice, drawSoak } from './draw-soak.ts';
import { runSlice } from './run-slice.ts';
import type { Sample } from './series.ts';

type Slice = DrawnSlice & { commit: string; report: Report };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '480' },
    slice: { type: 'string', default: '60' },
    seed: { type: 'string' },
    dir: { type: 'string', default: join(ROOT_DIR, '.runs/soak') },
  },
});
const [wanted, length] = [Number(values.minutes), Number(values.slice)];
const firstSeed = Number(values.seed ?? Date.now() % 1_000_000);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
if ([wanted, length].every((number) => number > 0) && Number.isSafeInteger(firstSeed)) process.exitCode = await soak();
else {
  console.error('Usage: npm run soak -- [--minutes 480] [--slice 60] [--seed N] [--dir DIR]');
  process.exitCode = 64;
}

async function soak(): Promise<number> {
  mkdirSync(values.dir, { recursive: true });
  const file = join(values.dir, 'slices.ndjson');
  const slices = existsSync(file) ? readSlices(file) : [];
  const done = () => slices.filter(({ report }) => report.ok).reduce((sum, { minutes }) => sum + minutes, 0);
  if (slices.length > 0) console.log(`soak: ${done()} of ${wanted} minutes are done, by ${file}`);
  let isGood = true;
  while (isGood && done() < wanted) {
    const minutes = Math.min(length, wanted - done());
    const slice = await makeSlice(minutes, firstSeed + slices.length);
    slices.push(slice);
    appendFileSync(file, `${JSON.stringify(slice)}\n`);
    writeFileSync(join(values.dir, 'soak.svg'), drawSoak(slices));
    isGood = slice.report.ok;
    console.log(`soak: ${done()} of ${wanted} minutes, plots in ${join(values.dir, 'soak.svg')}`);
  }
  console.log(JSON.stringify({ soak: { minutes: done(), wanted, ok: isGood }, slices: slices.map(summaryOf) }));
  return isGood ? 0 : 1;
}

function readSlices(file: string): Slice[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Slice);
}

async function makeSlice(minutes: number, seed: number): Promise<Slice> {
  const samples: Sample[] = [];
  const fault = { name: 'soak', seed, isFull: false };
  const report = await runFault(
    { ...fault, fault: (run) => runSlice(run, minutes, (sample) => samples.push(sample)) },
    (line) => console.log(line),
  );
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT_DIR, encoding: 'utf8' }).trim();
  return { minutes, samples, commit, report };
}

function summaryOf({ minutes, commit, report }: Slice) {
  return { commit, minutes, ...report };
}
