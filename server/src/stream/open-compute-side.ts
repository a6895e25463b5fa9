import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import { type BatchNeeds, type BatchReader, openBatches } from './events/read-batches.ts';
import { type Floors, openFloors } from './events/floors.ts';
import { DELIVER_CONSUMER } from './layout/layout.ts';
import type { Connect } from './nats/connect-nats.ts';
import { listEventStreams } from './nats/list-streams.ts';
import { openPublisher } from './nats/publish.ts';
import { AT_ONCE } from './nats/publish-durably.ts';
import { findPlace, type FoundPlace, type StreamPlace } from './nats/stream-place.ts';
import { openWaitingLine } from './nats/waiting-line.ts';
import { type ComputedChange, onComputed, tellComputed } from './signals/computed.ts';
import { hearProcesses } from './signals/hear-processes.ts';

/** The parts of NATS that compute works with. */
export type ComputeSide = AsyncDisposable & {
  /** By the engine's clock. */
  now(): number;
  /** The names of all event streams. Rejects while a cell cannot be reached. */
  streams(): Promise<string[]>;
  /** Those that can be read now, where there are several cells. */
  readable?(): Promise<string[]>;
  /** Where to go on in a stream after a known place; undefined while there is no such stream. */
  findPlace(stream: string, known: StreamPlace | undefined): Promise<FoundPlace | undefined>;
  batches(needs: Pick<BatchNeeds, 'stream' | 'position' | 'isWanted' | 'triedInVain'>): BatchReader;
  floors: Floors;
  /** How much deliver has before it. */
  load(): Promise<StreamLoad>;
  /** How many compute processes are alive, this one included. */
  processes(): number;
  /** Wakes the compute processes that wait for something to change. */
  tellChanged(change: ComputedChange): void;
  onChanged(told: (change: ComputedChange) => void): Disposable;
};

/**
 * Of the event streams, the most: requests that deliver has not taken up, those that it has not finished, and the part of its limit that a
 * stream uses.
 */
export type StreamLoad = { waiting: number; unfinished: number; fill: number };

export type ComputeSideNeeds = { connect: Connect; now(): number; log: Logger };

/** Its own connection: reading every event must not delay collect and deliver. */
export async function openComputeSide({ connect, now, log }: ComputeSideNeeds): Promise<ComputeSide> {
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(await connect('millrace-compute'));
  const manager = await jetstreamManager(connection.nc, { checkAPI: false, timeout: 5_000 });
  const publisher = opening.use(openPublisher(connection));
  const durable = { connection, publisher, line: openWaitingLine(AT_ONCE) };
  const heard = opening.use(hearProcesses(connection));
  const streams = () => listEventStreams(manager);
  const open = opening.move();
  return {
    now,
    streams,
    findPlace: (stream, known) => findPlace(manager, stream, known),
    batches: (needs) => openBatches({ ...needs, connection, manager, log }),
    floors: openFloors({ ...durable, manager }),
    load: async () => loadOf(manager, await streams()),
    processes: () => Math.max(1, heard.list()?.filter(({ roles }) => roles.includes('compute')).length ?? 1),
    tellChanged: (change) => tellComputed(connection, change),
    onChanged: (told) => onComputed(connection, told),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function loadOf(manager: JetStreamManager, streams: readonly string[]): Promise<StreamLoad> {
  const load = { waiting: 0, unfinished: 0, fill: 0 };
  for (const stream of streams) {
    const { num_pending: waiting, num_ack_pending: taken } = await manager.consumers.info(stream, DELIVER_CONSUMER);
    const { state, config } = await manager.streams.info(stream);
    load.waiting = Math.max(load.waiting, waiting);
    load.unfinished = Math.max(load.unfinished, waiting + taken);
    if (config.max_bytes > 0) load.fill = Math.max(load.fill, state.bytes / config.max_bytes);
  }
  return load;
}
