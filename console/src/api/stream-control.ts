/**
 * A stream of server-sent events from the control API, read with `fetch`: `EventSource` cannot name the workspace. The
 * stream is `connecting`, then `live`. When it breaks it is `waiting` and connects again by itself, later each time;
 * a refusal that does not pass by itself makes it `stopped`.
 */
import { ApiError, askStream, type Problem, type Query } from './ask-control.ts';
import { openServerSentReader } from './read-server-sent.ts';

export type StreamState =
  | { name: 'connecting' }
  | { name: 'live' }
  | { name: 'waiting'; againAt: number; why: string }
  | { name: 'stopped'; problem: Problem };

type Wanted = { path: string; query: Query };
type Listener = { heard(events: unknown[]): void; changed(state: StreamState): void };

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** The server sends a comment after 15 seconds without an event: a longer silence is a broken connection. */
const SILENCE_MS = 40_000;

/** Returns the function that closes it. */
export function streamControl({ path, query }: Wanted, { heard, changed }: Listener): () => void {
  const life = new AbortController();
  let waitMs = FIRST_WAIT_MS;
  async function readOnce(): Promise<string> {
    changed({ name: 'connecting' });
    const connection = new AbortController();
    const signal = AbortSignal.any([life.signal, connection.signal]);
    const reader = (await askStream(path, { query, signal })).pipeThrough(new TextDecoderStream()).getReader();
    const read = openServerSentReader();
    changed({ name: 'live' });
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return 'the server closed the stream';
      waitMs = FIRST_WAIT_MS;
      const events = read(value);
      if (events.length > 0) heard(events);
      const end = events.find(isEnd);
      if (end !== undefined) {
        connection.abort();
        return WORDS[end.code] ?? `the server ended the stream: ${end.code}`;
      }
    }
  }
  async function readOn(): Promise<void> {
    while (!life.signal.aborted) {
      const why = await readOnce().catch((error: unknown) => {
        if (life.signal.aborted) return '';
        if (error instanceof ApiError && isLasting(error.problem)) {
          changed({ name: 'stopped', problem: error.problem });
          life.abort();
          return '';
        }
        return error instanceof ApiError ? error.problem.title : 'the connection broke';
      });
      if (life.signal.aborted) return;
      changed({ name: 'waiting', againAt: Date.now() + waitMs, why });
      await pause(waitMs, life.signal);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }
  void readOn();
  return () => life.abort();
}

const WORDS: Record<string, string> = {
  shutting_down: 'the server restarts',
  too_many_streams: 'too many live tails are open: close one in another window',
  not_signed_in: 'you are no longer signed in',
  not_found: 'the source was deleted',
};

function isEnd(event: unknown): event is { kind: 'end'; code: string } {
  return typeof event === 'object' && event !== null && 'kind' in event && event.kind === 'end';
}

/** Too many streams, a restart and a lost network pass; a missing source and a missing right do not. */
function isLasting({ status }: Problem): boolean {
  return status >= 400 && status < 500 && status !== 429 && status !== 408;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
