/**
 * The way from a process to a cell that it can do without. A link is opening until the cell's streams are there, and open from then on:
 * later losses of the connection are those of the stream itself, which reconnects. `keepTrying` moves it on, with exponential
 * backoff. Parts that need the cell are started when it is open; their owners stop them before the link.
 */
import type { Logger } from '../log.ts';
import { pause } from '../pause.ts';
import type { Stream } from '../stream/open-stream.ts';

export type CellLink = AsyncDisposable & {
  name: string;
  /** Undefined while it is opening. */
  stream(): Stream | undefined;
  /** Starts a part when the cell is open, again after a failure. Disposing stops it. */
  attach(part: string, start: (stream: Stream) => Promise<AsyncDisposable>): AsyncDisposable;
};

export type LinkNeeds = { name: string; open(): Promise<Stream>; log: Logger };

const BACK_OFF_MS = { first: 500, most: 5_000 };

export function openLink({ name, open, log }: LinkNeeds): CellLink {
  const life = new AbortController();
  const { signal } = life;
  let found: Stream | undefined;
  const failed = (part: string) => (error: unknown) => {
    log.warn({ cell: name, part, error: error instanceof Error ? error.message : String(error) }, 'cell.unreachable');
  };
  const opening = keepTrying(open, { failed: failed('stream'), signal }).then((stream) => {
    found = stream;
    if (stream !== undefined) log.info({ cell: name }, 'cell.opened');
    return stream;
  });
  return {
    name,
    stream: () => found,
    attach(part, start) {
      const own = new AbortController();
      let running: AsyncDisposable | undefined;
      void opening.then(async (stream) => {
        const tries = { failed: failed(part), signal: AbortSignal.any([signal, own.signal]) };
        running = stream && (await keepTrying(() => start(stream), tries));
      });
      return {
        async [Symbol.asyncDispose]() {
          own.abort();
          // A cell that is away must not keep the process from its end.
          await Promise.resolve(running?.[Symbol.asyncDispose]()).catch(failed(part));
        },
      };
    },
    async [Symbol.asyncDispose]() {
      // A try that is under way ends by itself, and closes the stream that it opens after this.
      life.abort();
      await Promise.resolve(found?.[Symbol.asyncDispose]()).catch(failed('stream'));
    },
  };
}

type Tries = { failed(error: unknown): void; signal: AbortSignal };

/** Undefined when it was aborted before. Only the first failure in a row is told. */
async function keepTrying<T extends AsyncDisposable>(
  work: () => Promise<T>,
  { failed, signal }: Tries,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const done = await work();
      if (!signal.aborted) return done;
      await done[Symbol.asyncDispose]();
    } catch (error) {
      if (failures === 0 && !signal.aborted) failed(error);
      await pause(Math.min(BACK_OFF_MS.first * 2 ** Math.min(failures, 10), BACK_OFF_MS.most), signal);
    }
  }
  return undefined;
}
