/** A client of the engine, real or model, as the facts of conformance.ts use it. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../../../server/src/log.ts';
import { ticketDueSubject } from '../../../../server/src/stream/layout/layout.ts';
import type { Connection } from '../../../../server/src/stream/nats/connect-nats.ts';
import { openPublisher, type PublishAnswer } from '../../../../server/src/stream/nats/publish.ts';
import { pull, type PulledMessage } from '../../../../server/src/stream/nats/pull.ts';

export type Headers = readonly (readonly [name: string, value: string])[];
/** A client of the engine. */
export type Client = {
  connection: Connection;
  manager: JetStreamManager;
  publish(subject: string, text?: string, options?: { headers?: Headers; id?: string }): Promise<PublishAnswer>;
};

const log = openLog({ level: 'silent', pretty: false });
const LOOK_MS = 20;

export async function openClient(connection: Connection): Promise<Client> {
  const publisher = openPublisher(connection);
  const manager = await jetstreamManager(connection.nc, { checkAPI: false });
  return {
    connection,
    manager,
    publish(subject, text = '{}', options = {}) {
      const publication = { subject, payload: Buffer.from(text), ...options };
      return new Promise((resolve) => publisher.publish(publication, resolve));
    },
  };
}

/** Waits for as long as it takes: the test's own limit ends a wait for something that never comes. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(LOOK_MS);
}

export function sequenceOf(answer: PublishAnswer): number {
  return answer.kind === 'stored' ? answer.sequence : assert.fail(answer.kind);
}

export const expecting = (sequence: number) => ({
  headers: [['Nats-Expected-Last-Subject-Sequence', String(sequence)]] as const,
});

export function schedule(id: string, inMs: number): { headers: Headers } {
  return {
    headers: [
      ['Nats-Schedule', `@at ${new Date(Date.now() + inMs).toISOString()}`],
      ['Nats-Schedule-Target', ticketDueSubject(id)],
    ],
  };
}

/** The subjects of a stream below a pattern, with the number of their messages. */
export async function subjectsIn(
  { manager }: Client,
  stream: string,
  pattern: string,
): Promise<Record<string, number>> {
  return (await manager.streams.info(stream, { subjects_filter: pattern })).state.subjects ?? {};
}

type Pulled = { message: PulledMessage; at: number };

export function pullAll({ connection }: Client, stream: string, consumer: string) {
  const got: Pulled[] = [];
  const pulling = pull({
    connection,
    stream,
    consumer,
    room: () => 10,
    taken: (message) => void got.push({ message, at: performance.now() }),
    log,
  });
  return { got, [Symbol.asyncDispose]: () => pulling[Symbol.asyncDispose]() };
}

export const text = ({ data }: { data: Uint8Array }): string => Buffer.from(data).toString();

/** The library's own table of subscriptions, or the model's. */
export function subscriptionsOf(nc: unknown): number {
  return (nc as { protocol: { subscriptions: { size(): number } } }).protocol.subscriptions.size();
}
