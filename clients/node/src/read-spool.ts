import type fs from 'node:fs';

export type SpooledCall = { number: number; text: string };

/** What an earlier process left, in the order its calls were made. */
export type Recovered = {
  /** Batches that were under way: the service may have them, so they go again as they were. */
  batches: SpooledCall[][];
  calls: SpooledCall[];
  lastNumber: number;
};

/** Calls `first` to `last`, of which `open` have had no end. */
export type Segment = { first: number; last: number; open: number };

type Fs = Pick<typeof fs, 'readdirSync' | 'readFileSync' | 'existsSync'>;

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
  const read = firsts.map((first) => readSegment(fs, directory, first));
  const open = read.flatMap(({ calls }) => calls);
  const { batches, calls } = groupSealed(
    open,
    read.flatMap(({ seals }) => seals),
  );
  const lastNumber = Math.max(0, ...read.map(({ segment }) => segment.last));
  return { recovered: { batches, calls, lastNumber }, segments: read.map(({ segment }) => segment) };
}

function readSegment(fs: Fs, directory: string, first: number) {
  const written = fs.readFileSync(callsFile(directory, first), 'utf8').split('\n').flatMap(readCall);
  const marks = readMarks(fs, marksFile(directory, first));
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

function readMarks(fs: Fs, file: string): Mark[] {
  if (!fs.existsSync(file)) return [];
  // What follows the last line break was being written.
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) =>
    /^[=-]\d+-\d+(,\d+-\d+)*$/.test(line) ? [{ sign: line.slice(0, 1), numbers: readRanges(line.slice(1)) }] : [],
  );
}

function readRanges(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = 0] = range.split('-').map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  });
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
