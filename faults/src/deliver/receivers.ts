import { once } from 'node:events';
import { join } from 'node:path';
import type { NetHost } from '@millrace/engines';
import { forkOn } from '../fork-on.ts';
import type { Plan } from './plan-workspaces.ts';
import type { Arrival } from './read-arrival.ts';
import type { Behaviour, ReceiverOrder, ReceiverWord } from './receiver-process.ts';

export type Receivers = AsyncDisposable & {
  /** They listen on all addresses of this machine. */
  port: number;
  behave(destinationIds: string[], behaviour: Behaviour): Promise<void>;
  /** From now on no dice make an answer a 500: one delivery could lose them again and again, and wait longer each time. */
  restDice(): Promise<void>;
  /** Resolves when everything that has arrived so far has been noted. */
  heard(): Promise<void>;
  /** The most POSTs that were open at once since this was last asked. */
  mostOpen(): number;
};

export type ReceiversNeeds = {
  plan: Plan;
  seed: number;
  behaviour: Behaviour;
  /** The host that they run on, if not the usual one. */
  host?: NetHost | undefined;
  /** Called with each arrival, on the clock of `performance.now()` of this process. */
  noted(arrival: Arrival): void;
};

/** The receivers of all destinations of a plan. */
export async function openReceivers({ plan, seed, behaviour, host, noted }: ReceiversNeeds): Promise<Receivers> {
  const child = forkOn(host, join(import.meta.dirname, 'receiver-process.ts'));
  const stopWithUs = () => void child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  const clockOffsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const answered: ((word: ReceiverWord) => void)[] = [];
  let mostOpen = 0;
  child.on('message', (word: ReceiverWord) => {
    for (const arrival of word.arrivals) noted({ ...arrival, at: arrival.at - clockOffsetMs });
    mostOpen = Math.max(mostOpen, word.mostOpen);
    if (word.isAnswer) answered.shift()?.(word);
  });
  const ask = (order: ReceiverOrder) =>
    new Promise<ReceiverWord>((resolve) => {
      answered.push(resolve);
      child.send(order);
    });
  const secrets = Object.fromEntries(plan.destinations.map(({ id, secret }) => [id, secret]));
  const { port = 0 } = await ask({ kind: 'open', seed, secrets, behaviour });
  return {
    port,
    behave: async (destinationIds, behaviour) => void (await ask({ kind: 'behave', destinationIds, behaviour })),
    restDice: async () => void (await ask({ kind: 'rest' })),
    heard: async () => void (await ask({ kind: 'tell' })),
    mostOpen() {
      const most = mostOpen;
      mostOpen = 0;
      return most;
    },
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
