import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { errors, type Msg } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { reframeSnapshot } from './reframe-snapshot.ts';
import { type RestoreNeeds, type StreamFacts, toFacts } from './stream-facts.ts';

type RestoreAnswer = { deliver_subject?: string; error?: { description: string } };
type CreateAnswer = { config?: StreamConfig; state?: StreamInfo['state']; error?: { description: string } };

const ANSWER_WITHIN_MS = 30_000;
/** NATS opens and indexes the whole stream before it answers the last chunk. */
const OPENED_WITHIN_MS = 600_000;
/** Less than the five seconds after which NATS gives up a restore that gets no chunk. */
const HEARD_WITHIN_MS = 4_000;
const PAUSE_MS = 20;

/** Sends a snapshot back, one chunk at a time: NATS answers each when it has written it. */
export async function restoreStream({ nc }: Connection, { config, chunks }: RestoreNeeds): Promise<StreamFacts> {
  const { name } = config;
  const answer = await nc.request(`$JS.API.STREAM.RESTORE.${name}`, JSON.stringify({ config }), {
    timeout: ANSWER_WITHIN_MS,
  });
  const { deliver_subject: subject, error } = answer.json<RestoreAnswer>();
  if (subject === undefined || subject === '')
    throw new Error(`NATS refuses to restore ${name}: ${error?.description ?? 'no reason given'}`);
  for await (const chunk of reframeSnapshot(chunks)) {
    const taken = await whenHeard(() => nc.request(subject, chunk, { timeout: ANSWER_WITHIN_MS }));
    if (taken.data.length > 0) throw new Error(reasonOf(name, taken.json<CreateAnswer>()));
  }
  const made = (await nc.request(subject, '', { timeout: OPENED_WITHIN_MS })).json<CreateAnswer>();
  if (made.config === undefined || made.state === undefined) throw new Error(reasonOf(name, made));
  return toFacts(made.config, made.state);
}

/** A server asks for the stream before all others know that it listens: a chunk of that moment does not reach it. */
async function whenHeard(send: () => Promise<Msg>): Promise<Msg> {
  const giveUpAt = performance.now() + HEARD_WITHIN_MS;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const isUnheard = error instanceof errors.RequestError && error.isNoResponders();
      if (!isUnheard || performance.now() > giveUpAt) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

function reasonOf(name: string, { error }: CreateAnswer): string {
  return `NATS broke off the restore of ${name}: ${error?.description ?? 'no reason given'}`;
}
