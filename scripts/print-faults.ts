/**
 * `node scripts/print-faults.ts --write`: the tables of docs/inside/faults.md, from the catalog of faults, the planted bugs and the
 * reports that their last runs left in faults/reports.json.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INVARIANTS } from '../faults/src/catalog/fault-entry.ts';
import { GRID, GRID_VICTIMS, type GridCell } from '../faults/src/catalog/grid.ts';
import { type KeptFault, type KeptReports, readReports } from '../faults/src/keep-reports.ts';
import { listFaults, listRows, type ListedRow } from '../faults/src/list-faults.ts';
import { PLANTED_BUGS } from '../faults/src/planted/all-bugs.ts';
import { ROOT_DIR } from './project-files.ts';

export const FAULTS_PAGE = 'docs/inside/faults.md';

const FAULTS_HEAD = '| fault | injected | against | invariants | result | command |';
const GRID_HEAD = line(['the process', ...GRID_VICTIMS]);
const MATRIX_HEAD = '| trouble | shown by |';
const INVARIANTS_HEAD = '| invariant | meaning |';
const BUGS_HEAD = '| planted bug | imitates | check | result |';

/** The page with its tables printed anew. */
export function withFaultTables(page: string, reports: KeptReports = readReports()): string {
  const tables = [
    [FAULTS_HEAD, ...listFaults().map((fault) => faultLine(fault, reports))],
    [INVARIANTS_HEAD, ...Object.entries(INVARIANTS).map(line)],
    [GRID_HEAD, ...Object.entries<Record<string, GridCell>>(GRID).map(gridLine)],
    [MATRIX_HEAD, ...listRows().map((row) => line([row.words, shownBy(row)]))],
    [BUGS_HEAD, ...PLANTED_BUGS.map((bug) => bugLine(bug, reports))],
  ];
  return tables.reduce(withTable, page);
}

function gridLine([what, cells]: [string, Record<string, GridCell>]): string {
  return line([what, ...GRID_VICTIMS.map((victim) => namesOf(cells[victim] ?? ''))]);
}

function namesOf(cell: GridCell): string {
  return typeof cell === 'string' ? cell : cell.map((fault) => `\`${fault}\``).join(', ');
}

function faultLine(listed: ReturnType<typeof listFaults>[number], { faults }: KeptReports): string {
  const { fault, injects, against, invariants, command } = listed;
  return line([
    `\`${fault}\``,
    injects,
    against.join(', '),
    invariants.join(', '),
    resultOf(faults[fault]),
    `\`${command}\``,
  ]);
}

function resultOf(report: KeptFault | undefined): string {
  if (report === undefined) return 'not run';
  const { ok, skipped, seconds, on, size } = report;
  const verdict = skipped === undefined ? (ok ? 'held' : 'broken') : 'skipped';
  return `${verdict}, ${seconds} s (${on}, ${size})`;
}

function shownBy({ faults, test }: ListedRow): string {
  return [...faults, ...(test === undefined ? [] : [test.file])].map((name) => `\`${name}\``).join(', ');
}

function bugLine({ name, imitates, check }: (typeof PLANTED_BUGS)[number], { planted }: KeptReports): string {
  const report = planted[name];
  const by = report?.by === '' ? '' : ` by \`${report?.by.replaceAll('`', '')}\``;
  const result = report === undefined ? 'not run' : `${report.result} in ${report.seconds} s${by}`;
  return line([`\`${name}\``, imitates, `\`${check}\``, result]);
}

function withTable(page: string, [head = '', ...rows]: readonly string[]): string {
  const [before, after, ...others] = page.split(`${head}\n`);
  if (after === undefined || others.length > 0) throw new Error(`${FAULTS_PAGE} has to have this line once: ${head}`);
  const rule = '|---'.repeat(head.split('|').length - 2).concat('|');
  return `${before}${[head, rule, ...rows].join('\n')}\n${after.replace(/^(\|.*\n)*/, '')}`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

if (import.meta.main) {
  const file = join(ROOT_DIR, FAULTS_PAGE);
  const page = withFaultTables(readFileSync(file, 'utf8'));
  console.log(page);
  if (process.argv.includes('--write')) writeFileSync(file, page);
}
