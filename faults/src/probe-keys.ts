import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchMaker } from './batch-maker.ts';
import type { Oracle } from './oracle.ts';
import type { Random } from './seeded-random.ts';
import { sendRequest } from './send-request.ts';
import type { Source } from './sources.ts';

export type KeyProbe = Disposable & {
  /** Sends calls for a source until they are answered with this status; resolves with the moment of that answer. */
  untilAnswered(source: Source, status: KeyStatus): Promise<number>;
};

/** The key is good, revoked or unknown, or its source is disabled. */
export type KeyStatus = 200 | 401 | 403;

/** The name begins the ids of its calls: two probes need two. */
export type ProbeNeeds = { url: string; name: string; oracle: Oracle; random: Random };

const AGAIN_MS = 20;
const PATIENCE_MS = 15_000;

/** Finds out when collect has heard of a change. The oracle hears only of accepted calls: a refused one must not be stored. */
export function openKeyProbe({ url, name, oracle, random }: ProbeNeeds): KeyProbe {
  const agent = new Agent({ keepAlive: true });
  let probes = 0;
  return {
    async untilAnswered(source, status) {
      probes += 1;
      const makeBatch = batchMaker(random, `${name}-${probes}`, { senders: [source] });
      const tiredAt = performance.now() + PATIENCE_MS;
      while (performance.now() < tiredAt) {
        const { body, ...batch } = makeBatch();
        const attempt = await sendRequest({ url, agent, writeKey: source.writeKey, body });
        if (attempt.outcome === 200) {
          oracle.noteSent(batch, attempt.startedAt);
          oracle.noteAttempt(batch, attempt);
        }
        if (attempt.outcome === status) return attempt.endedAt;
        if (![200, 401, 403].includes(Number(attempt.outcome)))
          throw new Error(`a probe ended with ${attempt.outcome}`);
        await sleep(AGAIN_MS);
      }
      throw new Error(`collect did not answer ${status} within ${PATIENCE_MS} ms`);
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
