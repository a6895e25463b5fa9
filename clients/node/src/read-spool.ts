import type fs from 'node:fs';
import { SpoolError } from './errors.ts';

export type SpooledCall = { number: number; text: string };

/** The calls that an earlier process left, in the order in which they were made. */
export type Recovered = {
  /** Batches that were under way: the service may have them, so they go again as they were. */
  batches: SpooledCall[][];
  calls: SpooledCall[];
  lastNumber: number;
};

/** Calls `first` to `last`, of which `open` have had no end. */
export type Segment = { first: number; last: number; open: number };

type Fs = Pick<typeof fs, 'readdirSync' | 'readFileSync' | 'lstatSync'>;

export function callsFile(directory: string, first: number): string {
  return `${directory}/${first}.calls`;
}

export function marksFile(directory: string, first: number): string {
  return `${directory}/${first}.marks`;
}

export function readSpool(fs: Fs, directory: string): { recovered: Recovered; segments: Segment[] } {
  const firsts = fs
    .readdirSync(directory)
    .flatMap((file) => (/^\d+\.calls$/.test(file) ? [Number.parseInt(file, 10)] : []))
    .sort((a, b) => a - b);
  const written = firsts.map((first) => readOurs(fs, callsFile(directory, first)).split('\n').flatMap(readCall));
  const numbers = written.flatMap((calls) => calls.map(({ number }) => number)).sort((a, b) => a - b);
  const read = firsts.map((first, index) => {
    const marks = readMarks(readOurs(fs, marksFile(directory, first)), numbers);
    return readSegment(first, written[index] ?? [], marks);
  });
  const open = read.flatMap(({ calls }) => calls);
  const { batches, calls } = groupSealed(
    open,
    read.flatMap(({ seals }) => seals),
  );
  const lastNumber = numbers.at(-1) ?? 0;
  return { recovered: { batches, calls, lastNumber }, segments: read.map(({ segment }) => segment) };
}

/** Empty for one that is missing. A link, or the file of another user, was put there to be read or overwritten as ours. */
function readOurs(fs: Fs, file: string): string {
  const found = fs.lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return '';
  if (!found.isFile() || (process.getuid !== undefined && found.uid !== process.getuid())) {
    throw new SpoolError('spool_unusable', `${file} is a link or belongs to another user. Remove it.`);
  }
  return fs.readFileSync(file, 'utf8');
}

function readSegment(first: number, written: readonly SpooledCall[], marks: readonly Mark[]) {
  const settled = new Set(marks.flatMap(({ sign, numbers }) => (sign === '-' ? numbers : [])));
  const seals = marks.flatMap(({ sign, numbers }) => (sign === '=' ? [numbers] : []));
  const calls = written.filter(({ number }) => !settled.has(number));
  const last = written.reduce((most, { number }) => Math.max(most, number), first - 1);
  return { segment: { first, last, open: calls.length }, calls, seals };
}

/** A line that was being written when the process ended is not a call. */
function readCall(line: string): SpooledCall[] {
  const space = line.indexOf(' ');
  const number = Number(line.slice(0, space));
  const text = line.slice(space + 1);
  return space > 0 && Number.isSafeInteger(number) && isWhole(text) ? [{ number, text }] : [];
}

function isWhole(text: string): boolean {
  if (!text.startsWith('{') || !text.endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Mark = { sign: string; numbers: number[] };

function readMarks(text: string, written: readonly number[]): Mark[] {
  // The process ended while it wrote the text after the last line break.
  const lines = text.split('\n').slice(0, -1);
  return lines.flatMap((line) =>
    /^[=-]\d+-\d+(,\d+-\d+)*$/.test(line)
      ? [{ sign: line.slice(0, 1), numbers: readRanges(line.slice(1), written) }]
      : [],
  );
}

/** Only numbers of calls that were written: a range in a damaged file may have no end that fits into memory. */
function readRanges(text: string, written: readonly number[]): number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = 0] = range.split('-').map(Number);
    return written.slice(countBelow(written, first), countBelow(written, last + 1));
  });
}

/** How many of the sorted numbers are smaller. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A call belongs to the batch it was sealed into last: a batch that was too large was sealed again in halves. */
function groupSealed(open: readonly SpooledCall[], seals: readonly number[][]) {
  const sealOf = new Map<number, number>();
  for (const [seal, numbers] of seals.entries()) for (const number of numbers) sealOf.set(number, seal);
  const bySeal = new Map<number, SpooledCall[]>();
  const calls: SpooledCall[] = [];
  for (const call of open) {
    const seal = sealOf.get(call.number);
    if (seal === undefined) calls.push(call);
    else bySeal.set(seal, [...(bySeal.get(seal) ?? []), call]);
  }
  return { batches: [...bySeal.values()], calls };
}
