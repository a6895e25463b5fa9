import { type ChildProcess, fork } from 'node:child_process';

/** A child process that ends when it is disposed of, and at the latest with its parent. */
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
