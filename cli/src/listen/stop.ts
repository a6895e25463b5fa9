/** The ways in which `millrace listen` ends: Ctrl-C, SIGTERM, the q of the view, `--count`, or a reader that closed the pipe. */
import process from 'node:process';
import type { View } from '../view/open-view.ts';

export type Stopped = 'done' | 'interrupted';

export type Stop = Disposable & {
  stopped: Promise<Stopped>;
  signal: AbortSignal;
  end(): void;
};

export function openStop(view: View | undefined): Stop {
  const life = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Stopped>();
  const stop = (how: Stopped) => {
    resolve(how);
    life.abort();
  };
  const interrupted = () => stop('interrupted');
  const done = () => stop('done');
  const failed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    done();
  };
  process.stdout.on('error', failed);
  if (view === undefined) {
    process.on('SIGINT', interrupted);
    process.on('SIGTERM', done);
  } else void view.ended.then((how) => stop(how === 'interrupted' ? 'interrupted' : 'done'));
  return {
    stopped: promise,
    signal: life.signal,
    end: done,
    [Symbol.dispose]() {
      process.off('SIGINT', interrupted);
      process.off('SIGTERM', done);
      process.stdout.off('error', failed);
      life.abort();
    },
  };
}
