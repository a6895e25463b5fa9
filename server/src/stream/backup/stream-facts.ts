import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';

export type StreamFacts = {
  name: string;
  config: StreamConfig;
  messages: number;
  bytes: number;
  firstSequence: number;
  lastSequence: number;
  consumers: number;
};

export type ConsumerFacts = { name: string; ackFloor: number; delivered: number; waiting: number; pending: number };

export type EngineFacts = { version: string; servers: number; now: Date };

/** A copy under way: `write` gets the bytes in order, and its promise is the flow control. */
export type SnapshotNeeds = { write(chunk: Uint8Array): Promise<void> };
export type RestoreNeeds = {
  config: StreamConfig;
  chunks: AsyncIterable<Uint8Array>;
  onProgress?(bytes: number): void;
};

export function toFacts(config: StreamConfig, state: StreamInfo['state']): StreamFacts {
  const { messages, bytes, first_seq: firstSequence, last_seq: lastSequence, consumer_count: consumers } = state;
  return { name: config.name, config, messages, bytes, firstSequence, lastSequence, consumers };
}
