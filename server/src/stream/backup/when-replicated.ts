import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';

export type Replicated = { name: string; replicas: number };

type Cluster = { leader?: string; replicas?: { current: boolean }[] };

const LOOK_MS = 250;

/** Resolves when every replica has all of these streams and of their consumers: only then does the loss of a server lose nothing. */
export async function whenReplicated(
  manager: JetStreamManager,
  streams: readonly Replicated[],
  withinMs: number,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (const stream of streams) {
    for (;;) {
      const behind = await findBehind(manager, stream).catch((error: unknown) => `${stream.name} (${String(error)})`);
      if (behind === undefined) break;
      if (performance.now() > giveUpAt)
        throw new Error(`not all replicas of ${behind} are there after ${withinMs / 1_000} seconds`);
      await sleep(LOOK_MS);
    }
  }
}

/** Names the stream, or the consumer of it, that has no leader or misses replicas. */
async function findBehind(manager: JetStreamManager, { name, replicas }: Replicated): Promise<string | undefined> {
  const { cluster, state } = await manager.streams.info(name);
  if (!isWhole(cluster, replicas)) return `the stream ${name}`;
  let answered = 0;
  for await (const { name: consumer, config, cluster: its } of manager.consumers.list(name)) {
    answered += 1;
    // Ephemeral consumers of readers have one replica and end by themselves.
    if (config.durable_name !== undefined && !isWhole(its, replicas)) return `the consumer ${consumer} of ${name}`;
  }
  // One without a leader is counted and does not answer.
  return answered < state.consumer_count ? `a consumer of ${name}` : undefined;
}

function isWhole(cluster: Cluster | undefined, replicas: number): boolean {
  if (replicas === 1) return true;
  const others = cluster?.replicas ?? [];
  return cluster?.leader !== undefined && others.length === replicas - 1 && others.every(({ current }) => current);
}
