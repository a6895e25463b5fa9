import type { NatsConnection } from '@nats-io/transport-node';

const ANSWER_MS = 5_000;

/** Asks the leader of a stream or of a consumer to hand over. NATS may choose another server than the one that is wished for. */
export async function handOver(nc: Pick<NatsConnection, 'request'>, led: Led, to: string): Promise<void> {
  const wish = JSON.stringify({ placement: { preferred: to } });
  const answer = await nc.request(subjectOf(led), wish, { timeout: ANSWER_MS });
  const { error }: { error?: { description?: string } } = answer.json();
  if (error !== undefined) throw new Error(error.description ?? 'refused');
}

export type Led = { stream: string; consumer?: string };

function subjectOf({ stream, consumer }: Led): string {
  if (consumer === undefined) return `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
  return `$JS.API.CONSUMER.LEADER.STEPDOWN.${stream}.${consumer}`;
}
