/** The invariants that are decided at the end of a run, when nothing should be on its way any more. */
import { isDeepStrictEqual } from 'node:util';
import {
  bucketStream,
  bucketSubject,
  CONFIG_BUCKET,
  DEAD_STREAM,
  TICKETS_STREAM,
} from '../../../server/src/stream/layout/layout.ts';
import { deliveryIdOf } from './oracle.ts';
import type { Arrival } from './receivers.ts';
import type { World } from './world.ts';

/**
 * Nothing is left in lanes, no request is unacknowledged, the record has read all outcomes, and the bucket has all changes. A process that
 * stood still may overwrite a change with an older one: the projector finds that when it compares, every five minutes.
 */
export function isDrained(world: World): boolean {
  const { engine, outbox } = world;
  const isEmpty = ([name, { stored }]: [string, { stored: { state(): { messages: number } } }]) =>
    !/^(LANES|OUTCOMES|TICKETS)/.test(name) || stored.state().messages === 0;
  const isDone = ({ consumer }: { consumer: { stream: string; ackFloor(): number } }) =>
    !consumer.stream.startsWith('EVENTS') ||
    consumer.ackFloor() >= (engine.streams.get(consumer.stream)?.stored.state().lastSeq ?? 0);
  const isProjected = outbox.waiting() === 0 && unprojected(world).length === 0;
  return isProjected && [...engine.streams].every(isEmpty) && engine.consumers.values().every(isDone);
}

export function checkEnd(world: World): void {
  if (!isDrained(world)) world.oracle.blame('not drained', leftovers(world));
  checkLoss(world);
  checkRepeats(world);
  checkOrder(world);
  checkRecord(world);
  for (const id of unprojected(world)) world.oracle.blame('config', `the entry of ${id} is not its row`);
  checkSubscriptions(world);
}

/** The destinations whose entry in the bucket is not their row. */
function unprojected({ engine, outbox }: World): string[] {
  const bucket = engine.streams.get(bucketStream(CONFIG_BUCKET))?.stored;
  const isOld = ({ id, paused_at: pausedAt, settings }: { id: string; paused_at: Date | null; settings: unknown }) => {
    const entry = bucket?.lastOf(bucketSubject(CONFIG_BUCKET, `destination.${id}`));
    const written = JSON.parse(Buffer.from(entry?.data ?? '{}').toString()) as { paused?: boolean; settings?: unknown };
    return (written.paused === true) !== (pausedAt !== null) || !isDeepStrictEqual(written.settings, settings);
  };
  return outbox.rows
    .values()
    .filter(isOld)
    .map(({ id }) => id)
    .toArray();
}

/** Watches, pulls and answers of one connection, by far. */
const MOST_SUBSCRIPTIONS = 50;

/** A subscription that stays behind costs memory here and in NATS for as long as the process lives. */
function checkSubscriptions({ engine, oracle }: World): void {
  for (const { owner, subscribed } of engine.connections)
    if (subscribed() > MOST_SUBSCRIPTIONS) oracle.blame('leak', `${owner.name} has ${subscribed()} subscriptions`);
}

function leftovers({ engine }: World): string {
  const left = [...engine.streams]
    .filter(([name]) => /^(LANES|OUTCOMES|TICKETS)/.test(name))
    .map(([name, { stored }]) => `${name} ${stored.state().messages}`);
  const open = engine.consumers
    .values()
    .map(({ consumer }) => `${consumer.stream}/${consumer.name} ${consumer.ackPending()}`);
  const tickets = engine.streams.get(TICKETS_STREAM)?.stored.subjects('>').keys().toArray() ?? [];
  return [...left, ...open, ...tickets].join(', ');
}

const good = (arrivals: readonly Arrival[] = []): Arrival[] => arrivals.filter(({ isGood }) => isGood);

/** The deliveries that are dead letters. */
function deadLetters({ engine }: World): Set<string> {
  const dead = new Set<string>();
  const letters = engine.streams.get(DEAD_STREAM)?.stored;
  for (let seq = 1; seq <= (letters?.state().lastSeq ?? 0); seq += 1) {
    const letter = letters?.get(seq);
    if (letter !== undefined) dead.add(/"id":"(dlv_[^"]+)"/.exec(Buffer.from(letter.data).toString())?.[1] ?? '');
  }
  return dead;
}

/** Every accepted event is delivered, or a dead letter. */
function checkLoss(world: World): void {
  const { oracle, record } = world;
  const dead = deadLetters(world);
  for (const { deliveryId, messageId, destination } of oracle.expected()) {
    if (good(oracle.arrivals.get(deliveryId)).length > 0 || dead.has(deliveryId)) continue;
    const state = record.rows.get(deliveryId)?.state ?? 'unknown to the record';
    oracle.blame('lost', `${messageId} for ${destination.id} (${deliveryId}) is ${state}`);
  }
}

/** A second success needs a disturbance before it: a request that is given out again may park its deliveries a second time. */
function checkRepeats({ oracle }: World): void {
  for (const [deliveryId, arrivals] of oracle.arrivals) {
    const [first, ...more] = good(arrivals);
    const sentAt = oracle.sent.get(first?.messageId ?? '')?.at ?? 0;
    for (const again of more) {
      if (oracle.isDisturbed(sentAt, again.at)) continue;
      const times = [sentAt, first?.at ?? 0, again.at].map(Math.round).join(', ');
      oracle.blame('repeated', `${deliveryId} without a disturbance: sent, taken, taken again at ${times}`);
    }
  }
}

/** Where the destination asks for it, no event comes before those of its user in front of it in its request were taken or given up. */
function checkOrder(world: World): void {
  const { oracle } = world;
  const dead = deadLetters(world);
  for (const { deliveryId, messageId, destination } of oracle.expected()) {
    const [first] = oracle.arrivals.get(deliveryId) ?? [];
    if (destination.order !== 'user' || first === undefined) continue;
    for (const before of oracle.sent.get(messageId)?.before ?? []) {
      const id = deliveryIdOf(destination, before);
      const isOver =
        dead.has(id) || oracle.arrivals.get(id)?.some((each) => each.isFinal && isAhead(each, first)) === true;
      if (!isOver)
        oracle.blame('order', `${messageId} came to ${destination.id} at ${Math.round(first.at)} before ${before}`);
    }
  }
}

function isAhead(one: Arrival, other: Arrival): boolean {
  return one.at < other.at || (one.at === other.at && one.place < other.place);
}

/** A receiver answers within five seconds, and NATS has the outcome a moment later. */
const OUTCOME_WITHIN_MS = 6_000;

/** The record says delivered of what receivers took, and of nothing else. */
function checkRecord({ oracle, record }: World): void {
  for (const [deliveryId, row] of record.rows) {
    const isSeen = good(oracle.arrivals.get(deliveryId)).length > 0;
    if (row.state === 'delivered' && !isSeen)
      oracle.blame('record', `${deliveryId} is delivered, and no receiver has it`);
  }
  for (const [deliveryId, arrivals] of oracle.arrivals) {
    const state = record.rows.get(deliveryId)?.state;
    const [first] = good(arrivals);
    // A kill may lose the outcome of a success, also before its answer comes; the repetition may then end otherwise, or never be made.
    const until = (arrivals.at(-1)?.at ?? 0) + OUTCOME_WITHIN_MS;
    const mayDiffer = first !== undefined && state !== undefined && oracle.isDisturbed(first.at, until);
    if (first !== undefined && state !== 'delivered' && !mayDiffer)
      oracle.blame('record', `${deliveryId} was taken by its receiver and is ${state ?? 'unknown to the record'}`);
    else if (state === undefined || state === 'pending' || state === 'retrying')
      oracle.blame('record', `${deliveryId} was attempted and stays ${state ?? 'unknown to the record'}`);
  }
}
