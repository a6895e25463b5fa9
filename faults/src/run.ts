/** `npm run faults -- NAME [--full] [--seed N] [--keep]`: one fault, or `all`. Ends with one line of JSON; exit code = verdict. */
import { parseArgs } from 'node:util';
import { FAULTS } from './catalog.ts';
import { type Report, runFault } from './run-fault.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const [asked = ''] = positionals;
const chosen = [...FAULTS].filter(([name]) => asked === 'all' || asked === name);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
if (chosen.length === 0 || !Number.isSafeInteger(seed)) {
  console.error(
    `Usage: npm run faults -- NAME [--full] [--seed N] [--keep]\nNames: ${[...FAULTS.keys(), 'all'].join(', ')}`,
  );
  process.exit(64);
}
// Without this an interrupted run would leave its servers behind: they are stopped when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const reports: Report[] = [];
for (const [name, fault] of chosen) {
  reports.push(
    await runFault({ name, fault, seed, isFull: values.full, isKept: values.keep }, (line) => console.log(line)),
  );
}
const ok = reports.every((report) => report.ok);
console.log(JSON.stringify(asked === 'all' ? { fault: 'all', ok, reports } : reports[0]));
process.exitCode = ok ? 0 : 1;
