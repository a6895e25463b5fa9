/**
 * Outcomes of a workspace as an async iterator that connects again after its last line. It ends with the signal, and throws for a refusal
 * that does not pass by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutcomeLine } from '@millrace/contract/control';
import { Failure } from '../output/failures.ts';
import type { Control } from './control.ts';
import { Refusal } from './problems.ts';

export type Outcome = Extract<OutcomeLine, { cursor: string }>;

const AGAIN_MS = 1_000;
/** The server sends a heartbeat after 15 seconds without an outcome: a longer silence is a broken connection. */
const SILENCE_MS = 40_000;

export async function* followOutcomes(
  control: Pick<Control, 'stream'>,
  { cursor, signal }: { cursor: string | undefined; signal: AbortSignal },
): AsyncGenerator<Outcome, void, undefined> {
  let last = cursor;
  let isAgain = false;
  while (!signal.aborted) {
    try {
      for await (const line of readLines(control, last, signal)) {
        if (line.kind === 'end') mustPass(line.code);
        if (!('cursor' in line)) continue;
        last = line.cursor;
        if (line.kind !== 'open' || !isAgain) yield line;
        isAgain = true;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isAgain || !isPassing(error)) throw error;
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* readLines(
  control: Pick<Control, 'stream'>,
  cursor: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<OutcomeLine> {
  const connection = new AbortController();
  const both = AbortSignal.any([signal, connection.signal]);
  const reader = (await control.stream('/outcomes/stream', { cursor }, both))
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let rest = '';
  try {
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const parts = (rest + value).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) if (part !== '') yield JSON.parse(part) as OutcomeLine;
    }
  } finally {
    connection.abort();
  }
}

const PASSING_ENDS = new Set(['shutting_down', 'too_many_streams', 'internal', 'closed']);

function mustPass(code: string): void {
  if (PASSING_ENDS.has(code)) return;
  const isGone = code === 'cursor_gone';
  throw new Failure(`The server ended the stream (${code}).`, {
    exit: 'refused',
    todo: isGone ? 'Begin without a cursor; the list of deliveries has what happened in between.' : 'Sign in again.',
  });
}

function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.problem.status === 429 || error.problem.status >= 500;
  if (error instanceof Failure) return error.exit === 'unreachable';
  return true;
}
