import { type ChildProcess, fork } from 'node:child_process';

/** A process of our own that ends when it is let go of, and at the latest with us. */
export function forkWithUs(path: string): Disposable & { child: ChildProcess } {
  const child = fork(path);
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  return {
    child,
    [Symbol.dispose]() {
      process.removeListener('exit', stop);
      stop();
    },
  };
}
