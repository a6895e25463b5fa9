/** What tests want to know of the engine that no role needs to. */
import { jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import type { Logger } from '../log.ts';
import { connectNats } from './connect-nats.ts';

export async function openInspector(url: string, log: Logger) {
  const connection = await connectNats({ url, name: 'tests', log });
  const manager = await jetstreamManager(connection.nc);
  const subjectsOf = async (stream: string) =>
    (await manager.streams.info(stream, { subjects_filter: '>' })).state.subjects ?? {};
  return {
    manager,
    async deadLetters<T>(): Promise<T[]> {
      const { state } = await manager.streams.info('DEAD');
      const letters: T[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage('DEAD', { seq });
        if (message !== null) letters.push(message.json<T>());
      }
      return letters;
    },
    deadLetterCount: async (destinationId: string) => (await subjectsOf('DEAD'))[`dead.${destinationId}`] ?? 0,
    /** Everything that a stream holds, as text. */
    async textOf(stream: string): Promise<string> {
      const { state } = await manager.streams.info(stream);
      const parts: string[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(stream, { seq });
        if (message !== null) parts.push(message.string());
      }
      return parts.join('\n');
    },
    publish: async (subject: string, text: string) => {
      await connection.nc.request(subject, text);
    },
    laneGroups: () => subjectsOf('LANES-0'),
    tickets: async () => Object.keys(await subjectsOf('TICKETS')),
    /** Requests from the oldest that is not acknowledged yet. A consumer's own count may miss what was stored a moment ago. */
    async unsettled(): Promise<number> {
      const { state } = await manager.streams.info('EVENTS-0');
      const { ack_floor: floor } = await manager.consumers.info('EVENTS-0', 'deliver');
      return state.last_seq - floor.stream_seq;
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Milliseconds as the engine wants them. */
export const nanosOf = (ms: number): number => nanos(ms);
