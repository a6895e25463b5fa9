import type { LaneHealth } from '../../../server/src/domain/lane-health.ts';
import { type Connection } from '../../../server/src/stream/nats/connect-nats.ts';
import { DELIVER_CONSUMER, HEALTH_BUCKET, OUTCOMES_STREAM } from '../../../server/src/stream/layout/layout.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';

/** The health of a lane as the API would show it now; undefined when it has no trouble. */
export async function readHealth({ nc }: Connection, destinationId: string): Promise<LaneHealth | undefined> {
  const answer = await nc.request(`$JS.API.DIRECT.GET.KV_${HEALTH_BUCKET}.$KV.${HEALTH_BUCKET}.${destinationId}`);
  return answer.data.length === 0 ? undefined : answer.json<LaneHealth>();
}

/** Requests that are not acknowledged yet, taken or not. */
export async function countUnsettled({ nc }: Connection): Promise<number> {
  const counts = EVENT_STREAM_NAMES.map(async (stream) => {
    const answer = await nc.request(`$JS.API.CONSUMER.INFO.${stream}.${DELIVER_CONSUMER}`);
    const { num_pending, num_ack_pending } = answer.json<{ num_pending: number; num_ack_pending: number }>();
    return num_pending + num_ack_pending;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** The recorder's backlog: batches with one or more outcomes each. */
export type OutcomesWaiting = { messages: number; bytes: number; first_seq: number; last_seq: number };

export async function readOutcomes({ nc }: Connection, stream = OUTCOMES_STREAM): Promise<OutcomesWaiting> {
  const answer = await nc.request(`$JS.API.STREAM.INFO.${stream}`);
  return answer.json<{ state: OutcomesWaiting }>().state;
}
