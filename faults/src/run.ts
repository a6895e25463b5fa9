/**
 * `npm run faults -- NAME [--full] [--seed N] [--keep] [--write]`: one fault, or `all`. Ends with one line of JSON; exit code = verdict.
 * `npm run faults -- planted [NAME…] [--json] [--write]`: plants all bugs, or these, and expects the suite to catch them.
 * `npm run faults -- list [--json]`: every fault, and the rows of the matrix that it covers.
 * With `--write` the reports are kept in faults/reports.json.
 */
import { parseArgs } from 'node:util';
import { FAULTS } from './catalog.ts';
import { keepBugs, keepFaults } from './keep-reports.ts';
import { listFaults, listRows } from './list-faults.ts';
import { PLANTED_BUGS } from './planted/all-bugs.ts';
import { plantBugs } from './planted/plant-bugs.ts';
import { type Report, runFault } from './run-fault.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const [asked = '', ...named] = positionals;
// Without this an interrupted run would leave its servers behind: they are stopped when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await run();

async function run(): Promise<number> {
  if (asked === 'list') return list();
  return asked === 'planted' ? runPlanted(named) : runFaults(asked);
}

function list(): number {
  const [faults, matrix] = [listFaults(), listRows()];
  if (values.json) console.log(JSON.stringify({ faults, matrix }));
  else for (const { fault, injects, covers } of faults) console.log(`${fault}: ${injects} (${covers.join(', ')})`);
  return 0;
}

async function runFaults(name: string): Promise<number> {
  const chosen = [...FAULTS].filter(([each]) => name === 'all' || name === each);
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  if (chosen.length === 0 || !Number.isSafeInteger(seed)) return tellUsage();
  const reports: Report[] = [];
  for (const [each, { run: fault }] of chosen) {
    const options = { name: each, fault, seed, isFull: values.full, isKept: values.keep };
    reports.push(await runFault(options, (line) => console.log(line)));
    if (values.write) keepFaults(reports.slice(-1));
  }
  const ok = reports.every((report) => report.ok);
  console.log(JSON.stringify(name === 'all' ? { fault: 'all', ok, reports } : reports[0]));
  return ok ? 0 : 1;
}

async function runPlanted(names: readonly string[]): Promise<number> {
  const chosen = PLANTED_BUGS.filter((bug) => names.length === 0 || names.includes(bug.name));
  if (chosen.length < Math.max(1, names.length)) return tellUsage();
  const report = await plantBugs(chosen, (bug, line) => {
    if (values.write) keepBugs([bug]);
    if (values.json) console.error(line);
    else console.log(line);
  });
  if (values.json) console.log(JSON.stringify(report));
  return report.ok ? 0 : 1;
}

function tellUsage(): number {
  console.error(
    `Usage: npm run faults -- NAME [--full] [--seed N] [--keep] [--write]
       npm run faults -- planted [NAME…] [--json] [--write]
       npm run faults -- list [--json]
Names: ${[...FAULTS.keys(), 'all'].join(', ')}
Planted bugs: ${PLANTED_BUGS.map((bug) => bug.name).join(', ')}`,
  );
  return 64;
}
