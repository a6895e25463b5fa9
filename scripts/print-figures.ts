/** `node scripts/print-figures.ts --write`: the page of the figures that the calculators use, from cli/src/sizing/figures.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Basis, type Figure, FIGURES } from '../cli/src/sizing/figures.ts';
import { ROOT_DIR } from './project-files.ts';

export const FIGURES_PAGE = 'docs/measurements/figures.md';

const INTRODUCTION = `# Figures of the calculators

[Sizing](../run/sizing.md) and [scale](../run/scale.md) calculate with these figures, by name, and with no others: \`cli/src/sizing/figures.ts\` has them, and
\`node scripts/print-figures.ts --write\` prints this page. A test fails when a figure and [the measurements](README.md) or a constant of the server
no longer agree.`;

const BASES: Readonly<Record<Basis, string>> = {
  measured: 'Measured: the page of measurements has the figure in a sentence, which the test looks for.',
  fitted:
    'Fitted: chosen so that the answers stay within 30 % of `npm run bench -- sizing`, `-- scale` and `-- scale-check`, on two shared cores of a virtual machine.',
  set: 'Set: constants of the server, and bytes that it writes; a test asks the server for them.',
  plan: 'Plan: margins and sizes that we chose for planning.',
  estimate: 'Estimate: no measurement exists. An answer that rests on one says so.',
};

export function figuresPage(): string {
  const chapters = (Object.keys(BASES) as Basis[]).map((basis) => {
    const rows = Object.entries<Figure>(FIGURES).filter(([, figure]) => figure.basis === basis);
    return [`## ${title(basis)}`, BASES[basis], table(rows)].join('\n\n');
  });
  return `${[INTRODUCTION, ...chapters].join('\n\n')}\n`;
}

function table(rows: readonly [string, Figure][]): string {
  const lines = rows.map(([name, { value, unit, means }]) => `| \`${name}\` | ${valueText(value, unit)} | ${means} |`);
  return ['| name | figure | meaning |', '|---|---|---|', ...lines].join('\n');
}

function valueText(value: number, unit: string): string {
  return `${value.toLocaleString('en-US')} ${unit}`.trim();
}

function title(basis: Basis): string {
  return basis.charAt(0).toUpperCase() + basis.slice(1);
}

if (import.meta.main) {
  console.log(figuresPage());
  if (process.argv.includes('--write')) writeFileSync(join(ROOT_DIR, FIGURES_PAGE), figuresPage());
}
