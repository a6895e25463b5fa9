import type { JetStreamManager } from '@nats-io/jetstream';
import { eventStreamIndex, laneStreamIndex, outcomesStreamIndex, type StreamsFound } from '../layout/layout.ts';
import { whenSettled } from './when-settled.ts';

/** All event streams that exist, by number: also those that only an earlier or another process's setting asks for. */
export function listEventStreams(manager: JetStreamManager): Promise<string[]> {
  return listStreams(manager, eventStreamIndex);
}

/** The same for the streams of outcomes. */
export function listOutcomesStreams(manager: JetStreamManager): Promise<string[]> {
  return listStreams(manager, outcomesStreamIndex);
}

async function listStreams(
  manager: JetStreamManager,
  indexOf: (name: string) => number | undefined,
): Promise<string[]> {
  const indexes = new Map<string, number>();
  for await (const name of manager.streams.names()) {
    const index = indexOf(name);
    if (index !== undefined) indexes.set(name, index);
  }
  return [...indexes].sort(([, one], [, other]) => one - other).map(([name]) => name);
}

/** One more than the highest number of each kind. */
export async function streamsFound(manager: JetStreamManager): Promise<StreamsFound> {
  const found = { eventStreams: 0, laneStreams: 0, outcomeStreams: 0 };
  for await (const name of manager.streams.names()) {
    found.eventStreams = Math.max(found.eventStreams, 1 + (eventStreamIndex(name) ?? -1));
    found.laneStreams = Math.max(found.laneStreams, 1 + (laneStreamIndex(name) ?? -1));
    found.outcomeStreams = Math.max(found.outcomeStreams, 1 + (outcomesStreamIndex(name) ?? -1));
  }
  return found;
}

/** For reading: the streams of the settings, and those that an earlier setting left behind. */
export async function countEventStreams(manager: JetStreamManager, wanted: number): Promise<number> {
  return Math.max(wanted, (await whenSettled(() => streamsFound(manager))).eventStreams);
}
