import type fs from 'node:fs';
import { builtin } from './builtin.ts';
import { SpoolError } from './errors.ts';
import { lockDirectory } from './spool-lock.ts';
import { callsFile, marksFile, readSpool, type Recovered, type Segment } from './read-spool.ts';

/**
 * Calls on disk, so that they outlive the process. Every call is written before its function returns, and
 * then survives every end of the process, but not the loss of power: nothing is synced.
 *
 * A segment is two files: `N.calls`, one line a call, and `N.marks`, which says of calls in it that they were sealed into
 * one batch (`=`) or had their end (`-`). A segment whose calls all had their end is deleted.
 */
export type Spool = {
  readonly recovered: Recovered;
  append(number: number, text: string): void;
  /** These calls are a batch: the next process has to send them together, so that the service can recognise them. */
  seal(numbers: readonly number[]): void;
  settle(numbers: readonly number[]): void;
  close(): void;
};

export const MAX_SEGMENT_BYTES = 1_048_576;

type Fs = typeof fs;

type State = {
  fs: Fs;
  directory: string;
  segments: Segment[];
  current: (Segment & { descriptor: number; bytes: number }) | undefined;
  /** The last line may be torn, so the next one starts on a line of its own. */
  isTorn: boolean;
  warn(message: string): void;
};

/** Throws a SpoolError when the directory cannot be used or another process uses it. */
export function openSpool(directory: string, warn: (message: string) => void): Spool {
  const fs = builtin('node:fs');
  const path = builtin('node:path');
  if (fs === undefined || path === undefined) {
    throw new SpoolError('spool_unusable', 'A spool needs a file system, which this runtime does not have.');
  }
  const place = path.resolve(directory);
  fs.mkdirSync(place, { recursive: true, mode: 0o700 });
  // Windows has no such bits, and says that they are set.
  if (process.getuid !== undefined && (fs.statSync(place).mode & 0o002) !== 0) {
    throw new SpoolError('spool_unusable', `Every user can write to ${place}: chmod o-w, or use a folder in it.`);
  }
  const unlock = lockDirectory(fs, place);
  const { recovered, segments } = readOrUnlock(() => readSpool(fs, place), unlock);
  const state: State = { fs, directory: place, segments, current: undefined, isTorn: false, warn };
  for (const segment of segments) removeIfDone(state, segment);
  return {
    recovered,
    append: (number, text) => trying(state, () => append(state, number, text)),
    seal: (numbers) => trying(state, () => mark(state, '=', numbers)),
    settle: (numbers) => trying(state, () => settle(state, numbers)),
    close: () => {
      closeCurrent(state);
      unlock();
    },
  };
}

function readOrUnlock<T>(read: () => T, unlock: () => void): T {
  try {
    return read();
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A full disk takes the calls' second life, not the calls: they are in memory, too. */
function trying(state: State, act: () => void): void {
  try {
    act();
  } catch (error) {
    state.isTorn = true;
    state.warn(`the spool cannot be written: ${String(error)}`);
  }
}

function append(state: State, number: number, text: string): void {
  const segment = currentSegment(state, number);
  const line = `${state.isTorn ? '\n' : ''}${number} ${text}\n`;
  segment.bytes += state.fs.writeSync(segment.descriptor, line);
  state.isTorn = false;
  segment.last = number;
  segment.open += 1;
}

function currentSegment(state: State, number: number): NonNullable<State['current']> {
  const { current, fs, directory } = state;
  if (current !== undefined && current.bytes < MAX_SEGMENT_BYTES) return current;
  if (current !== undefined) fs.closeSync(current.descriptor);
  // Never one that is there: it would not be ours.
  const descriptor = fs.openSync(callsFile(directory, number), 'ax', 0o600);
  const segment = { first: number, last: number - 1, open: 0, descriptor, bytes: 0 };
  state.current = segment;
  state.segments.push(segment);
  if (current !== undefined) removeIfDone(state, current);
  return segment;
}

function closeCurrent(state: State): void {
  const { current, fs } = state;
  if (current === undefined) return;
  fs.closeSync(current.descriptor);
  state.current = undefined;
  removeIfDone(state, current);
}

function settle(state: State, numbers: readonly number[]): void {
  mark(state, '-', numbers);
  // Those that are removed meanwhile leave a new list behind.
  const { segments } = state;
  for (const segment of segments) {
    const settled = numbers.filter((number) => isIn(segment, number)).length;
    segment.open -= settled;
    if (settled > 0) removeIfDone(state, segment);
  }
}

/** In the marks of every segment that holds some of these calls, so that each can be deleted by itself. */
function mark({ fs, directory, segments }: State, sign: '=' | '-', numbers: readonly number[]): void {
  for (const segment of segments) {
    const held = numbers.filter((number) => isIn(segment, number));
    if (held.length === 0) continue;
    // A seal names all calls of the batch wherever they are; an end only those that are here.
    const named = sign === '=' ? numbers : held;
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = fs.constants;
    const flags = O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW;
    const descriptor = fs.openSync(marksFile(directory, segment.first), flags, 0o600);
    try {
      fs.writeSync(descriptor, `${sign}${ranges(named)}\n`);
    } finally {
      fs.closeSync(descriptor);
    }
  }
}

function isIn({ first, last }: Segment, number: number): boolean {
  return number >= first && number <= last;
}

/** `3-22,24-24`: numbers rise, and mostly without gaps. */
function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  let first = numbers[0] ?? 0;
  for (const [index, number] of numbers.entries()) {
    if (numbers[index + 1] === number + 1) continue;
    parts.push(`${first}-${number}`);
    first = numbers[index + 1] ?? 0;
  }
  return parts.join(',');
}

function removeIfDone(state: State, segment: Segment): void {
  if (segment.open > 0 || segment === state.current) return;
  state.segments = state.segments.filter((other) => other !== segment);
  state.fs.rmSync(callsFile(state.directory, segment.first), { force: true });
  state.fs.rmSync(marksFile(state.directory, segment.first), { force: true });
}
