import { setInterval as every } from 'node:timers/promises';
import type { ControlAnswer, ControlClient } from './control-client.ts';

export type RefusalWatch = AsyncDisposable & { answers: readonly ControlAnswer[] };

/** The name of sources that must not exist afterwards: their creation was refused. */
export const REFUSED_NAME = 'Refused';

const ASK_EVERY_MS = 250;

/** Asks control for everything all the time: to read, to write, and how it is. */
export function watchRefusals(control: ControlClient): RefusalWatch {
  const answers: ControlAnswer[] = [];
  const stopping = new AbortController();
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  async function watch(): Promise<void> {
    for await (const _ of every(ASK_EVERY_MS, undefined, { signal: stopping.signal })) {
      const asked = [
        control.ask('GET', '/api/v1/sources'),
        control.ask('POST', '/api/v1/sources', { name: REFUSED_NAME }),
        control.ask('GET', '/readyz'),
        control.ask('GET', '/healthz'),
      ];
      answers.push(...(await Promise.all(asked)));
    }
  }

  return {
    answers,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}
