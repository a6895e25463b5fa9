/**
 * The numbers of lane streams that processes use or used, in the bucket `layout`. A process announces its own number before it
 * stores by it, and again every hour. A starting process forgets a number that was not announced for a day, once no lane is in a
 * place that only this number leads to.
 */
import { jetstream, JetStreamApiCodes, type JetStreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { Logger } from '../../log.ts';
import type { Connection } from './connect-nats.ts';
import { undefinedIfMissing } from './engine-errors.ts';
import { homesOf } from '../layout/lane-places.ts';
import { LAYOUT_BUCKET, laneStreamName } from '../layout/layout.ts';
import { streamsFound } from './list-streams.ts';
import { watchBucket } from './watch-bucket.ts';
import { whenSettled } from './when-settled.ts';
import { every } from '../../pause.ts';

export type LaneCounts = AsyncDisposable & {
  /** Every number that is in use: our own first. */
  all(): readonly number[];
  /** The number by which new deliveries are stored now. */
  toStoreBy(): number;
};

export type LaneCountsNeeds = { connection: Connection; count: number; log: Logger };

const PREFIX = 'lanes.';
const ANNOUNCE_MS = 3_600_000;
const FORGET_AFTER_MS = 24 * ANNOUNCE_MS;
/** By then every process knows of a new number, and looks for lanes in the places that it leads to. */
const HEARD_AFTER_MS = 5_000;

export function openLayoutBucket({ nc }: Pick<Connection, 'nc'>): Promise<KV> {
  return whenSettled(() => new Kvm(jetstream(nc, { timeout: 1_500 })).open(LAYOUT_BUCKET));
}

export async function openLaneCounts({ connection, count, log }: LaneCountsNeeds): Promise<LaneCounts> {
  const bucket = await openLayoutBucket(connection);
  const announced = new Map<number, number>();
  const watch = await watchBucket({
    name: LAYOUT_BUCKET,
    bucket,
    connection,
    log,
    changed(key, entry) {
      const found = countIn(key);
      if (found === undefined) return;
      if (entry === undefined) announced.delete(found);
      else announced.set(found, entry.storedAt());
    },
  });
  const [former] = [...announced].filter(([other]) => other !== count).sort(([, one], [, other]) => other - one);
  const isNew = !announced.has(count);
  const announce = () => bucket.put(PREFIX + count, '{}');
  await whenSettled(announce);
  const storeByItFrom = performance.now() + (isNew && former !== undefined ? HEARD_AFTER_MS : 0);
  const timer = every(ANNOUNCE_MS, () => {
    announce().catch((error: unknown) => log.warn({ error: String(error) }, 'layout.not_announced'));
  });
  return {
    all: () => [count, ...[...announced.keys()].filter((other) => other !== count)],
    toStoreBy: () => (former !== undefined && performance.now() < storeByItFrom ? former[0] : count),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await watch[Symbol.asyncDispose]();
    },
  };
}

/**
 * For a start, before it makes any stream. An earlier version announced nothing: its number is the number of streams that exist.
 * Resolves with the numbers that are still in use, beside the one of the settings.
 */
export async function settleLaneCounts(
  bucket: KV,
  manager: JetStreamManager,
  { count, now }: { count: number; now: number },
): Promise<readonly number[]> {
  const announced = await readAnnounced(bucket);
  const { laneStreams } = await streamsFound(manager);
  if (announced.size === 0 && laneStreams > 0) {
    await bucket.put(PREFIX + laneStreams, '{}');
    announced.set(laneStreams, now);
  }
  for (const [old, at] of announced) {
    if (old === count || now - at < FORGET_AFTER_MS) continue;
    const others = [count, ...[...announced.keys()].filter((other) => other !== old)];
    if (!(await areAllIn(others, manager, laneStreams))) continue;
    await bucket.purge(PREFIX + old);
    announced.delete(old);
  }
  return [...announced.keys()];
}

async function readAnnounced(bucket: KV): Promise<Map<number, number>> {
  const announced = new Map<number, number>();
  for await (const entry of await bucket.history()) {
    const count = countIn(entry.key);
    if (count !== undefined && entry.operation === 'PUT') announced.set(count, entry.created.getTime());
  }
  return announced;
}

/** Whether every lane that holds something is where one of these numbers leads. */
async function areAllIn(counts: readonly number[], manager: JetStreamManager, laneStreams: number): Promise<boolean> {
  for (let index = 0; index < laneStreams; index += 1) {
    for (const destinationId of await lanesIn(manager, index)) {
      if (!homesOf(destinationId, counts).includes(index)) return false;
    }
  }
  return true;
}

/** The destinations that have something waiting in one lane stream. */
export async function lanesIn(manager: JetStreamManager, index: number): Promise<Set<string>> {
  const gone = undefinedIfMissing(JetStreamApiCodes.StreamNotFound);
  const info = await manager.streams.info(laneStreamName(index), { subjects_filter: '>' }).catch(gone);
  return new Set(Object.keys(info?.state.subjects ?? {}).map(laneIn));
}

/** The destination in the subject of a lane. */
export function laneIn(subject: string): string {
  return subject.split('.')[2] ?? '';
}

function countIn(key: string): number | undefined {
  const count = key.startsWith(PREFIX) ? Number(key.slice(PREFIX.length)) : Number.NaN;
  return Number.isInteger(count) && count > 0 ? count : undefined;
}
