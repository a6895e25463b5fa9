import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Counts, Question } from './receiver.ts';

export type Receiver = AsyncDisposable & { port: number; counts(question: Question): Promise<Counts> };

/** A process of its own, on the core of the load generator. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiver.ts'));
  const exited = once(child, 'exit');
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async counts(question) {
      const answered = once(child, 'message');
      child.send(question);
      const [{ counts }] = (await answered) as [{ counts: Counts }];
      return counts;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
