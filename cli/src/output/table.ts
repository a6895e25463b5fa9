/** Tables that fit the terminal: the widest columns that may shrink are cut until the rows fit. In a pipe nothing is cut. */
import process from 'node:process';
import { inline, print, styled } from './print.ts';
import { cutTo, widthOf } from './width.ts';

export type Column<Row> = {
  title: string;
  of(row: Row): string;
  /** Ids are never cut: people copy them. */
  isWhole?: true;
  isNumber?: true;
  /** The colour of a cell, by its row. */
  style?(row: Row): Parameters<typeof styled>[0] | undefined;
};

const GAP = 2;
const LEAST = 8;

export function printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], empty: string): void {
  if (rows.length === 0) {
    print(empty);
    return;
  }
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  for (const line of tableLines(columns, rows, width)) print(line);
}

export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string[] {
  const cells = rows.map((row) => columns.map(({ of }) => inline(of(row))));
  const natural = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[at] ?? ''))),
  );
  const widths = width === undefined ? natural : fit(columns, natural, width);
  const line = (texts: readonly string[]) =>
    texts.map((text, at) => pad(text, widths[at] ?? 0, { isNumber: columns[at]?.isNumber === true }));
  const header = styled(
    'dim',
    line(columns.map(({ title }) => title))
      .join('  ')
      .trimEnd(),
  );
  const body = cells.map((texts, index) =>
    line(texts)
      .map((text, at) => {
        const style = columns[at]?.style?.(rows[index] as Row);
        return style === undefined ? text : styled(style, text);
      })
      .join('  ')
      .trimEnd(),
  );
  return [header, ...body];
}

function fit<Row>(columns: readonly Column<Row>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    const widest = widths
      .map((each, at) => ({ each, at }))
      .filter(({ each, at }) => columns[at]?.isWhole !== true && each > LEAST)
      .toSorted((a, b) => b.each - a.each)[0];
    if (widest === undefined) break;
    widths[widest.at] = widest.each - 1;
  }
  return widths;
}

function pad(text: string, width: number, { isNumber }: { isNumber: boolean }): string {
  const cut = cutTo(text, width);
  const space = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return isNumber ? `${space}${cut}` : `${cut}${space}`;
}

/** `name: value` lines, for one thing. */
export function printFacts(facts: readonly (readonly [name: string, value: string | undefined])[]): void {
  const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => widthOf(name)));
  for (const [name, value] of shown) print(`${styled('dim', name.padEnd(width))}  ${inline(value)}`);
}
