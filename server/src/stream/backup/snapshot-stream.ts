import type { Msg } from '@nats-io/nats-core';
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { Connection } from '../nats/connect-nats.ts';
import { type SnapshotNeeds, type StreamFacts, toFacts } from './stream-facts.ts';

type SnapshotAnswer = { config?: StreamConfig; state?: StreamInfo['state']; error?: { description: string } };

const ANSWER_WITHIN_MS = 30_000;
/** NATS itself gives up on a reader that acknowledges nothing for five seconds. */
const CHUNK_WITHIN_MS = 60_000;
const CHUNK_BYTES = 128 * 1_024;
const WINDOW_BYTES = 4 * 1_024 * 1_024;

/** Hands every byte of a snapshot to `write`. Resolves after the last one; throws when NATS breaks off. */
export async function snapshotStream(
  { nc, inbox }: Connection,
  name: string,
  { write }: SnapshotNeeds,
): Promise<StreamFacts> {
  const deliverSubject = inbox();
  const chunks = nc.subscribe(deliverSubject);
  const request = { deliver_subject: deliverSubject, chunk_size: CHUNK_BYTES, window_size: WINDOW_BYTES };
  try {
    const subject = `$JS.API.STREAM.SNAPSHOT.${name}`;
    const answer = await nc.request(subject, JSON.stringify(request), { timeout: ANSWER_WITHIN_MS });
    const { config, state, error } = answer.json<SnapshotAnswer>();
    if (config === undefined || state === undefined)
      throw new Error(`NATS refuses a snapshot of ${name}: ${error?.description ?? 'no reason given'}`);
    await takeChunks(chunks[Symbol.asyncIterator](), name, write);
    return toFacts(config, state);
  } finally {
    chunks.unsubscribe();
  }
}

async function takeChunks(chunks: AsyncIterator<Msg>, name: string, write: SnapshotNeeds['write']): Promise<void> {
  for (;;) {
    const message = await nextWithin(chunks, name);
    if (message.data.length === 0) {
      // 204 or nothing means complete; everything else is the reason why it is not.
      const code = message.headers?.code ?? 0;
      if (code >= 400)
        throw new Error(`NATS broke off the snapshot of ${name}: ${code} ${message.headers?.description}`);
      return;
    }
    await write(message.data);
    message.respond();
  }
}

async function nextWithin(chunks: AsyncIterator<Msg>, name: string): Promise<Msg> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`NATS sent nothing of ${name} for a minute`)), CHUNK_WITHIN_MS);
  try {
    const next = await Promise.race([chunks.next(), silence]);
    if (next.done === true) throw new Error(`the connection to NATS ended within the snapshot of ${name}`);
    return next.value;
  } finally {
    clearTimeout(timer);
  }
}
