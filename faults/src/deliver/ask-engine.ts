import type { LaneHealth } from '../../../server/src/domain/lane-health.ts';
import { type Connection } from '../../../server/src/stream/nats/connect-nats.ts';
import { DELIVER_CONSUMER, HEALTH_BUCKET, OUTCOMES_STREAM } from '../../../server/src/stream/layout/layout.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';

/** Longer than a busy machine makes a server wait: the library's own second is not. */
const ANSWER_WITHIN_MS = 30_000;

/** Asks the API of the engine. */
export async function askEngine<T>({ nc }: Connection, question: string, text = ''): Promise<T> {
  return (await nc.request(`$JS.API.${question}`, text, { timeout: ANSWER_WITHIN_MS })).json<T>();
}

/** The health of a lane as the API would show it now; undefined when it has no trouble. */
export async function readHealth({ nc }: Connection, destinationId: string): Promise<LaneHealth | undefined> {
  const key = `$JS.API.DIRECT.GET.KV_${HEALTH_BUCKET}.$KV.${HEALTH_BUCKET}.${destinationId}`;
  const answer = await nc.request(key, '', { timeout: ANSWER_WITHIN_MS });
  return answer.data.length === 0 ? undefined : answer.json<LaneHealth>();
}

type Unsettled = { num_pending: number; num_ack_pending: number };

/** Requests that are not acknowledged yet, taken or not. */
export async function countUnsettled(connection: Connection): Promise<number> {
  const counts = EVENT_STREAM_NAMES.map(async (stream) => {
    const consumer = await askEngine<Unsettled>(connection, `CONSUMER.INFO.${stream}.${DELIVER_CONSUMER}`);
    return consumer.num_pending + consumer.num_ack_pending;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** The recorder's backlog: batches with one or more outcomes each. */
export type OutcomesWaiting = { messages: number; bytes: number; first_seq: number; last_seq: number };

export async function readOutcomes(connection: Connection, stream = OUTCOMES_STREAM): Promise<OutcomesWaiting> {
  const { state } = await askEngine<{ state: OutcomesWaiting }>(connection, `STREAM.INFO.${stream}`);
  return state;
}
