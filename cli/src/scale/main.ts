/** `npm run scale`: needs no server. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { describeScale } from './describe-scale.ts';
import { planScale } from './plan-scale.ts';
import { readPrices } from './prices.ts';
import { type ScaleFlags, scaleProgram } from './read-flags.ts';

function run({ load, prices: file, isJson, isCheck }: ScaleFlags): void {
  if (isCheck) {
    process.exitCode =
      spawnSync('npm', ['run', '--silent', 'bench', '--', 'scale-check'], { stdio: 'inherit' }).status ?? 1;
    return;
  }
  const read = readPrices(file);
  if (!read.ok) {
    process.stderr.write(
      `error: ${file} is no list of prices: ${read.problem}. cli/src/scale/prices.json shows the form.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const plan = planScale(load, read.prices);
  const text = isJson ? JSON.stringify({ load, plan, prices: read.prices }) : describeScale(load, plan, read.prices);
  process.stdout.write(`${text}\n`);
}

await scaleProgram(run).parseAsync();
