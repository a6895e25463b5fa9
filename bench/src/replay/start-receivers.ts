import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReceiverOrder, ReceiverView } from './receiver.ts';

export type Receivers = AsyncDisposable & {
  hookUrl: string;
  otherUrl: string;
  toldUrl: string;
  look(): Promise<ReceiverView>;
  reset(): Promise<void>;
  /** From now on answers 400 for good, or 200 again. */
  refuse(isRefusing: boolean): Promise<void>;
  /** When each event of the other destination and each computed value came, since this was last asked. */
  others(): Promise<ReceiverView['others']>;
};

export async function startReceivers(): Promise<Receivers> {
  const child = fork(join(import.meta.dirname, 'receiver.ts'));
  const [port] = (await once(child, 'message')) as [number];
  const kept: ReceiverView['others'] = [];
  let last: Promise<unknown> = Promise.resolve();
  // One question after the other: an answer does not say which question it is for.
  const ask = (order: ReceiverOrder): Promise<ReceiverView> => {
    const answer = last.then(async () => {
      const answered = once(child, 'message');
      child.send(order);
      const [view] = (await answered) as [ReceiverView];
      // Too many to be the arguments of one push.
      for (const other of view.others) kept.push(other);
      return view;
    });
    last = answer;
    return answer;
  };
  return {
    hookUrl: `http://127.0.0.1:${port}/hook`,
    otherUrl: `http://127.0.0.1:${port}/other`,
    toldUrl: `http://127.0.0.1:${port}/told`,
    look: () => ask({ kind: 'look' }),
    reset: async () => void (await ask({ kind: 'reset' })),
    refuse: async (isRefusing) => void (await ask({ kind: 'refuse', isRefusing })),
    async others() {
      await ask({ kind: 'look' });
      return kept.splice(0);
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
