import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import { DELIVER_CONSUMER } from '../layout/layout.ts';
import { readFloor } from './floors.ts';
import { readNextSince } from '../nats/read-subject.ts';
import { every } from '../../pause.ts';

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
/**
 * Requests above compute's floor stay until the stream is CROWDED: then new calls come first, and requests go that compute has not
 * read, until the stream is down to SPARED.
 */
const CROWDED = 0.9;
const SPARED = 0.85;
const LOOK_MS = 10_000;
/** The same for a process that does not have the turn. */
const SPARE_LOOK_MS = 60_000;
/** Above WATCHED, a stream could fill up between two looks. */
const WATCHED = 0.8;
const WATCHED_LOOK_MS = 1_000;
/** A purge holds up the stream, for 0.4 s if it drops a gigabyte, so it is made in portions. */
const PORTION_BYTES = 16_000_000;
const PORTION_PAUSE_MS = 250;

/**
 * Requests that are done (delivered, safe in lanes, or given up; and read by compute, while it has a floor) stay for replays until
 * they are older than the retention, and as long as there is room for them: otherwise they would fill the stream, and new calls
 * would be refused for the sake of old ones. A request that is not done stays however old it is. One deliver process makes room, and
 * one control process drops requests that are too old; two may purge the same without harm. So the others look too, once a minute, and
 * then as often as that one while a stream is nearly full: it may not reach the stream, and heartbeats can be forged.
 */
export function trimEvents({ isMyTurn, ...needs }: TrimNeeds & { isMyTurn(): boolean }): Disposable {
  const stopping = new AbortController();
  let isLooking = false;
  let lookAt = performance.now() + LOOK_MS;
  let spareLookAt = performance.now() + SPARE_LOOK_MS;
  const look = async () => {
    if (isLooking || performance.now() < (isMyTurn() ? lookAt : spareLookAt)) return;
    isLooking = true;
    const fullest = await trimAll({ ...needs, signal: stopping.signal });
    lookAt = performance.now() + lookAgainMs(fullest, true);
    spareLookAt = performance.now() + lookAgainMs(fullest, false);
    isLooking = false;
  };
  const timer = every(WATCHED_LOOK_MS, () => void look());
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      stopping.abort();
    },
  };
}

/** `fullest` is the part of its limit that the fullest stream used at the last look. */
export function lookAgainMs(fullest: number, hasTurn: boolean): number {
  if (fullest > WATCHED) return WATCHED_LOOK_MS;
  return hasTurn ? LOOK_MS : SPARE_LOOK_MS;
}

/** Resolves with the part of its limit that the fullest stream uses, as it was before. */
export async function trimAll({ streams, log, ...needs }: TrimNeeds): Promise<number> {
  let fullest = 0;
  const warn = (facts: object) => {
    if (needs.signal?.aborted !== true) log.warn(facts, 'events.not_trimmed');
  };
  try {
    for (const stream of await streams()) {
      // A stream that cannot be asked now is looked at again soon.
      const seen = (part: number) => (fullest = Math.max(fullest, part));
      const failed = (error: unknown) => warn({ stream, error: String(error) });
      const { room, age, unread } = await trimOne(stream, { ...needs, seen }, failed);
      if (room > 0) log.info({ stream, requests: room }, 'events.trimmed');
      if (age > 0) log.debug({ stream, requests: age }, 'events.expired');
      if (unread > 0) log.error({ stream, requests: unread, why: UNREAD }, 'events.trimmed_unread');
    }
  } catch (error) {
    warn({ error: String(error) });
  }
  return fullest;
}

const UNREAD = 'the stream is nearly full, and compute has not read them: definitions are incomplete from here on';

/** How many requests went because room was short, because they were too old, and before compute had read them. */
type Trimmed = { room: number; age: number; unread: number };

async function trimOne(stream: string, needs: PortionNeeds, failed: (error: unknown) => void): Promise<Trimmed> {
  const trimmed = { room: 0, age: 0, unread: 0 };
  try {
    for await (const { why, purged } of trimInPortions(stream, needs)) trimmed[why] += purged;
  } catch (error) {
    failed(error);
  }
  return trimmed;
}

type PortionNeeds = Pick<TrimNeeds, 'manager' | 'retentionMs' | 'signal'> & { seen(part: number): void };

type Portion = { why: keyof Trimmed; purged: number };
/** The requests before this sequence can go. */
type First = { why: keyof Trimmed; seq: number };
/** The parts of its limit above which requests go that are done, and those that compute has not read. */
type Limits = { share: number; crowded: number };

async function* trimInPortions(stream: string, needs: PortionNeeds): AsyncGenerator<Portion> {
  const { manager, signal } = needs;
  for (let limits = { share: FULL, crowded: CROWDED }; ; ) {
    const first = await firstOf(stream, limits, needs);
    if (first === undefined) return;
    const { purged } = await manager.streams.purge(stream, { seq: first.seq });
    yield { why: first.why, purged };
    limits = { share: TRIMMED, crowded: first.why === 'unread' ? SPARED : CROWDED };
    await sleep(PORTION_PAUSE_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Asks the consumer before the stream: else new requests in between could make the consumer seem ahead of the stream. */
async function firstOf(stream: string, { share, crowded }: Limits, needs: PortionNeeds): Promise<First | undefined> {
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
  const part = fill.maxBytes > 0 ? fill.bytes / fill.maxBytes : 0;
  needs.seen(part);
  const [byRoom, byAge] = [firstToKeep(fill, share), firstToKeepByAge(fill, firstYoung)];
  if (Math.max(byRoom, byAge) <= state.first_seq) return undefined;
  const done: First = byRoom > byAge ? { why: 'room', seq: byRoom } : { why: 'age', seq: byAge };
  const unread = await firstUnreadOf(info, { isCrowded: part >= crowded, ...needs });
  if (done.seq <= unread) return done;
  const spared = part < crowded ? 0 : firstToKeep(fill, crowded, SPARED);
  if (spared > unread) return { why: 'unread', seq: spared };
  return unread > state.first_seq ? { ...done, seq: unread } : undefined;
}

/** The first request that compute may still have to read; infinite while it reads none. A crowded stream is trimmed in any case. */
async function firstUnreadOf(
  { config, created }: StreamInfo,
  { manager, isCrowded }: Pick<PortionNeeds, 'manager'> & { isCrowded: boolean },
): Promise<number> {
  const floor = await readFloor(manager, config.name).catch((error: unknown) => {
    if (!isCrowded) throw error;
    return undefined;
  });
  return floor?.createdAt === Date.parse(created) ? floor.through + 1 : Infinity;
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
export function firstToKeep(fill: Fill, share: number, target = TRIMMED): number {
  const { bytes, messages, first_seq, last_seq, maxBytes, doneThrough } = fill;
  if (maxBytes <= 0 || bytes <= maxBytes * share || doneThrough > last_seq) return first_seq;
  const surplusBytes = Math.min(PORTION_BYTES, bytes - maxBytes * target);
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
