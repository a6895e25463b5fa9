import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import { DELIVER_CONSUMER, eventStreamName } from './layout.ts';

export type TrimNeeds = { manager: JetStreamManager; eventStreams: number; log: Logger; signal?: AbortSignal };

/** How full a stream may be before what is done makes room, and how full it is then. */
const FULL = 0.7;
const TRIMMED = 0.65;
const LOOK_MS = 10_000;
/** A purge holds up the stream, for 0.4 s if it drops a gigabyte, so it is made in portions. */
const PORTION_BYTES = 16_000_000;
const PORTION_PAUSE_MS = 250;

/**
 * Requests that are done (delivered, safe in lanes, or given up) stay for replays as long as there is room for them. Without
 * this they would fill the stream, and new calls would be refused for the sake of old ones. Every deliver process looks; two that
 * purge the same purge it once.
 */
export function trimEvents(needs: TrimNeeds): Disposable {
  const stopping = new AbortController();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void trimAll({ ...needs, signal: stopping.signal }).finally(() => (isLooking = false));
  }, LOOK_MS);
  timer.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}

/** A stream that cannot be asked now is looked at again soon. */
export async function trimAll({ eventStreams, log, ...needs }: TrimNeeds): Promise<void> {
  for (let index = 0; index < eventStreams; index += 1) {
    const stream = eventStreamName(index);
    let requests = 0;
    try {
      for await (const purged of trimInPortions(stream, needs)) requests += purged;
    } catch (error) {
      if (needs.signal?.aborted !== true) log.warn({ stream, error: String(error) }, 'events.not_trimmed');
    }
    if (requests > 0) log.info({ stream, requests }, 'events.trimmed');
  }
}

async function* trimInPortions(
  stream: string,
  { manager, signal }: Pick<TrimNeeds, 'manager' | 'signal'>,
): AsyncGenerator<number> {
  for (let share = FULL; ; share = TRIMMED) {
    const first = await firstOf(manager, stream, share);
    if (first === undefined) return;
    yield (await manager.streams.purge(stream, { seq: first })).purged;
    await sleep(PORTION_PAUSE_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** The consumer is asked before the stream, so that it cannot seem to be ahead of it because of what comes in between. */
async function firstOf(manager: JetStreamManager, stream: string, share: number): Promise<number | undefined> {
  const { ack_floor: floor } = await manager.consumers.info(stream, DELIVER_CONSUMER);
  const { config, state } = await manager.streams.info(stream);
  const first = firstToKeep({ ...state, maxBytes: config.max_bytes, doneThrough: floor.stream_seq }, share);
  return first > state.first_seq ? first : undefined;
}

export type Fill = {
  bytes: number;
  messages: number;
  first_seq: number;
  last_seq: number;
  /** Not above zero when there is no limit. */
  maxBytes: number;
  /** Everything up to here is done. */
  doneThrough: number;
};

/**
 * What is before this can go when the stream is fuller than the share: by the average size of a request, and no more than a
 * portion. What is not done stays in any case. A floor beyond the end is that of another stream, restored or made anew.
 */
export function firstToKeep(fill: Fill, share: number): number {
  const { bytes, messages, first_seq, last_seq, maxBytes, doneThrough } = fill;
  if (maxBytes <= 0 || bytes <= maxBytes * share || doneThrough > last_seq) return first_seq;
  const surplusBytes = Math.min(PORTION_BYTES, bytes - maxBytes * TRIMMED);
  const surplus = Math.ceil((messages * surplusBytes) / bytes);
  return Math.max(first_seq, Math.min(first_seq + surplus, doneThrough + 1));
}
