/**
 * The live tail of a source as an async iterator. It is connected, or it waits to connect again, later each time; both are items of
 * the iterator. It ends with the signal, and throws for a refusal that does not pass by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TailEvent } from '@millrace/contract/control';
import { openServerSentReader } from '@millrace/console/read-server-sent';
import { Failure } from '../output/failures.ts';
import type { Control } from './control.ts';
import { Refusal } from './problems.ts';

export type TailFilter = { type?: string; event?: string; userId?: string };

export type TailItem =
  | Exclude<TailEvent, { kind: 'end' }>
  /** `isAgain`: the connection broke before, and calls in between were not shown. */
  | { kind: 'connected'; isAgain: boolean }
  | { kind: 'lost'; why: string; waitMs: number };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The server sends a comment after 15 seconds without an event: a longer silence is a broken connection. */
const SILENCE_MS = 40_000;

export async function* tailSource(
  control: Pick<Control, 'stream'>,
  sourceId: string,
  filter: TailFilter = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<TailItem, void, undefined> {
  const path = `/sources/${encodeURIComponent(sourceId)}/tail`;
  let waitMs = FIRST_WAIT_MS;
  let isAgain = false;
  while (!signal.aborted) {
    let why = 'the server closed the stream';
    try {
      for await (const event of readOnce(control, path, filter, signal)) {
        if (event.kind === 'end') {
          why = endWords(event.code);
          break;
        }
        waitMs = FIRST_WAIT_MS;
        if (event.kind === 'open') yield { kind: 'connected', isAgain };
        isAgain = true;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error, isAgain)) throw error;
      why = error instanceof Failure ? error.message.replace(/\.$/, '') : 'the connection broke';
    }
    if (signal.aborted) return;
    yield { kind: 'lost', why, waitMs };
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

async function* readOnce(
  control: Pick<Control, 'stream'>,
  path: string,
  filter: TailFilter,
  signal: AbortSignal,
): AsyncGenerator<TailEvent> {
  const connection = new AbortController();
  const stream = await control.stream(path, filter, AbortSignal.any([signal, connection.signal]));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const read = openServerSentReader();
  try {
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      yield* read(value) as TailEvent[];
    }
  } finally {
    connection.abort();
  }
}

/** Ends that another connection mends; the others are refusals. */
function endWords(code: string): string {
  if (code === 'shutting_down') return 'the server restarts';
  if (code === 'too_many_streams') return 'too many live tails are open';
  if (code === 'not_signed_in') {
    throw new Failure('The token or session has ended.', { exit: 'refused', todo: 'Sign in with millrace login.' });
  }
  if (code === 'not_found') throw new Failure('The source was deleted.', { exit: 'notFound' });
  if (code === 'not_allowed') throw new Failure('You may no longer see this source.', { exit: 'refused' });
  return `the server ended the stream (${code})`;
}

/** Before the first connection an unreachable server is a mistake to tell at once; later it restarts, and the tail waits for it. */
function isPassing(error: unknown, isAgain: boolean): boolean {
  if (error instanceof Refusal) {
    const { status } = error.problem;
    return status === 429 || status === 408 || (isAgain && status >= 500);
  }
  if (error instanceof Failure) return isAgain && error.exit === 'unreachable';
  return true;
}
