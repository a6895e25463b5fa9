/** One line of a list, on paper or on the screen, with everything behind it. */
import { cut, fit, harmless } from './text-width.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export type Cells = { time: string; type: string; name: string; user: string; size: string; status: string };

/** A heading with its lines; the lines are the texts of others, as they came. */
export type Section = { title: string; lines: readonly string[]; tone?: Tone };

export type Row = {
  id: number;
  cells: Cells;
  tone: Tone;
  /** About how much memory it holds. */
  bytes: number;
  details(): Section[];
  /** The command that sends it again from a shell; absent where there is none. */
  curl?(): string;
  /** Sends it again; resolves with the sentence to show. */
  resend?(): Promise<string>;
};

export const COLOURS: Readonly<Record<Tone, string>> = {
  good: '\x1b[32m',
  bad: '\x1b[31m',
  warn: '\x1b[33m',
  plain: '',
};
export const DIM = '\x1b[2m';
export const RESET = '\x1b[0m';

export type Widths = { type: number; name: number; user: number; size: number };

export const TIME_WIDTH = 12;
const LINE_WIDTHS: Widths = { type: 9, name: 24, user: 14, size: 9 };

/** The row as one line of text for a pipe, a file or a terminal without the full-screen view. */
export function lineOf({ cells, tone }: Row, hasColour: boolean): string {
  const { type, name, user, size } = LINE_WIDTHS;
  const time = fit(cells.time, TIME_WIDTH);
  const text = [
    fit(harmless(cells.type), type),
    fit(harmless(cells.name), name),
    fit(harmless(cells.user), user),
    fit(cells.size, size, 'right'),
  ].join('  ');
  const status = harmless(cells.status);
  if (!hasColour) return `${time}  ${text}  ${status}`.trimEnd();
  return `${DIM}${time}${RESET}  ${text}  ${COLOURS[tone]}${status}${RESET}`;
}

/** The widths of the columns on a screen this wide; the status gets the rest, and at least a third. */
export function widthsFor(columns: number): Widths {
  const room = Math.max(0, Math.floor((columns - TIME_WIDTH - 10) * 0.66));
  const size = room > 40 ? 9 : 0;
  const type = Math.min(9, Math.max(4, Math.floor(room / 4)));
  const left = Math.max(0, room - size - type);
  const user = Math.min(20, Math.floor(left / 3));
  return { type, user, size, name: Math.min(40, left - user) };
}

/** The cells of a row with the columns where they begin, counted from 1. */
export function placed(cells: Cells, columns: number): { at: number; text: string; cell: keyof Cells }[] {
  const { type, name, user, size } = widthsFor(columns);
  let at = 2;
  const next = (cell: keyof Cells, width: number, align: 'left' | 'right' = 'left') => {
    const place = { at, text: width === 0 ? '' : fit(harmless(cells[cell]), width, align), cell };
    at += width === 0 ? 0 : width + 2;
    return place;
  };
  const before = [next('time', TIME_WIDTH), next('type', type), next('name', name), next('user', user)];
  const measured = next('size', size, 'right');
  const status = { at, text: cut(harmless(cells.status), columns - at), cell: 'status' as const };
  return [...before, measured, status];
}

const UNITS = ['B', 'kB', 'MB'] as const;

export function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  let [amount, unit] = [bytes, 0];
  while (amount >= 1_000 && unit < UNITS.length - 1) [amount, unit] = [amount / 1_000, unit + 1];
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit]}`;
}
