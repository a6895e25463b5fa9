import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import { DELIVER_CONSUMER } from '../layout/layout.ts';
import { readNextSince } from '../nats/read-subject.ts';

export type TrimNeeds = {
  manager: JetStreamManager;
  /** The names of all event streams. */
  streams(): Promise<string[]>;
  /** How long requests that are done are kept; 0 for as long as there is room. */
  retentionMs: number;
  log: Logger;
  signal?: AbortSignal;
};

/** Above FULL, requests that are done are dropped until the stream is down to TRIMMED. */
const FULL = 0.7;
const TRIMMED = 0.65;
const LOOK_MS = 10_000;
/** A purge holds up the stream, for 0.4 s if it drops a gigabyte, so it is made in portions. */
const PORTION_BYTES = 16_000_000;
const PORTION_PAUSE_MS = 250;

/**
 * Requests that are done (delivered, safe in lanes, or given up) stay for replays until they are older than the retention, and
 * as long as there is room for them: otherwise they would fill the stream, and new calls would be refused for the sake of old
 * ones. A request that is not done stays however old it is. One deliver process makes room, and control drops requests that are too
 * old; two processes may purge the same without harm.
 */
export function trimEvents({ isMyTurn, ...needs }: TrimNeeds & { isMyTurn(): boolean }): Disposable {
  const stopping = new AbortController();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking || !isMyTurn()) return;
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

export async function trimAll({ streams, log, ...needs }: TrimNeeds): Promise<void> {
  const warn = (facts: object) => {
    if (needs.signal?.aborted !== true) log.warn(facts, 'events.not_trimmed');
  };
  try {
    for (const stream of await streams()) {
      // A stream that cannot be asked now is looked at again soon.
      const { room, age } = await trimOne(stream, needs, (error) => warn({ stream, error: String(error) }));
      if (room > 0) log.info({ stream, requests: room }, 'events.trimmed');
      if (age > 0) log.debug({ stream, requests: age }, 'events.expired');
    }
  } catch (error) {
    warn({ error: String(error) });
  }
}

/** How many requests went because room was short, and because they were too old. */
type Trimmed = { room: number; age: number };

async function trimOne(stream: string, needs: PortionNeeds, failed: (error: unknown) => void): Promise<Trimmed> {
  const trimmed = { room: 0, age: 0 };
  try {
    for await (const { why, purged } of trimInPortions(stream, needs)) trimmed[why] += purged;
  } catch (error) {
    failed(error);
  }
  return trimmed;
}

type PortionNeeds = Pick<TrimNeeds, 'manager' | 'retentionMs' | 'signal'>;

type Portion = { why: keyof Trimmed; purged: number };
/** The requests before this sequence can go. */
type First = { why: keyof Trimmed; seq: number };

async function* trimInPortions(stream: string, needs: PortionNeeds): AsyncGenerator<Portion> {
  const { manager, signal } = needs;
  for (let share = FULL; ; share = TRIMMED) {
    const first = await firstOf(stream, share, needs);
    if (first === undefined) return;
    const { purged } = await manager.streams.purge(stream, { seq: first.seq });
    yield { why: first.why, purged };
    await sleep(PORTION_PAUSE_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Asks the consumer before the stream: else new requests in between could make the consumer seem ahead of the stream. */
async function firstOf(stream: string, share: number, needs: PortionNeeds): Promise<First | undefined> {
  const { manager } = needs;
  const { ack_floor: floor } = await manager.consumers.info(stream, DELIVER_CONSUMER);
  const info = await manager.streams.info(stream);
  const { config, state } = info;
  const fill = { ...state, maxBytes: config.max_bytes, doneThrough: floor.stream_seq };
  const firstYoung = await firstYoungOf(stream, {
    ...needs,
    firstAt: Date.parse(state.first_ts),
    now: Date.parse(info.ts ?? ''),
  });
  const [byRoom, byAge] = [firstToKeep(fill, share), firstToKeepByAge(fill, firstYoung)];
  if (Math.max(byRoom, byAge) <= state.first_seq) return undefined;
  return byRoom > byAge ? { why: 'room', seq: byRoom } : { why: 'age', seq: byAge };
}

/** `now` is the time of the server that stamps the requests: our own clock may be a day ahead. */
type Ages = PortionNeeds & { firstAt: number; now: number };

/** The first request that is not too old; undefined when all are, 0 when the oldest one is not. */
async function firstYoungOf(stream: string, { manager, retentionMs, firstAt, now }: Ages): Promise<number | undefined> {
  const from = now - retentionMs;
  if (retentionMs === 0 || !(firstAt < from)) return 0;
  return (await readNextSince(manager, stream, from))?.seq;
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
 * The requests before this sequence can go when the stream is fuller than the share: by the average size of a request, and at most
 * one portion. Requests that are not done always stay. A floor beyond the end is that of another stream, restored or recreated.
 */
export function firstToKeep(fill: Fill, share: number): number {
  const { bytes, messages, first_seq, last_seq, maxBytes, doneThrough } = fill;
  if (maxBytes <= 0 || bytes <= maxBytes * share || doneThrough > last_seq) return first_seq;
  const surplusBytes = Math.min(PORTION_BYTES, bytes - maxBytes * TRIMMED);
  const surplus = Math.ceil((messages * surplusBytes) / bytes);
  return Math.max(first_seq, Math.min(first_seq + surplus, doneThrough + 1));
}

/** The same by age. `firstYoung` is undefined when every request in the stream is too old. */
export function firstToKeepByAge(fill: Fill, firstYoung: number | undefined): number {
  const { bytes, messages, first_seq, last_seq, doneThrough } = fill;
  if (doneThrough > last_seq || messages === 0) return first_seq;
  const portion = Math.max(1, Math.ceil((messages * PORTION_BYTES) / Math.max(bytes, PORTION_BYTES)));
  return Math.max(first_seq, Math.min(firstYoung ?? last_seq + 1, first_seq + portion, doneThrough + 1));
}
