/**
 * The number of event streams, in the bucket `layout`. Control announces it when the streams exist, and all processes store by it from
 * then on: the home of a request is the same in each of them. Without an announcement the settings decide, as in earlier versions.
 */
import type { KV } from '@nats-io/kv';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { isDenied } from '../nats/engine-errors.ts';
import { openLayoutBucket } from '../nats/lane-counts.ts';
import { LAYOUT_BUCKET } from '../layout/layout.ts';
import { watchBucket } from '../nats/watch-bucket.ts';

/** `asked`: the number of the settings from which control derived it. */
export type EventCount = { streams: number; asked: number };
export type EventCountFollowed = AsyncDisposable & { streams(): number };
export type FollowNeeds = { connection: Connection; asked: number; log: Logger };

const KEY = 'events';
const MOST = 64;

/** `revision` is 0 when nothing was announced. */
export async function readEventCount(bucket: KV): Promise<{ announced: EventCount | undefined; revision: number }> {
  // The bucket keeps one entry of a key. Read like a list: `get` would need a permission that users of earlier versions lack.
  const [entry] = await Array.fromAsync(await bucket.history({ key: KEY }));
  if (entry === undefined) return { announced: undefined, revision: 0 };
  return {
    announced: entry.operation === 'PUT' ? countIn(entry.string()) : undefined,
    revision: entry.revision,
  };
}

/** Fails when another process has announced something since the revision. */
export async function announceEventCount(bucket: KV, count: EventCount, revision: number): Promise<void> {
  await bucket.put(KEY, JSON.stringify(count), { previousSeq: revision });
}

/** A NATS user of an earlier version may not watch the bucket: then the number of the settings stays. */
export async function followEventCount({ connection, asked, log }: FollowNeeds): Promise<EventCountFollowed> {
  let announced: EventCount | undefined;
  try {
    const bucket = await openLayoutBucket(connection);
    const watch = await watchBucket({
      name: LAYOUT_BUCKET,
      bucket,
      keys: KEY,
      connection,
      log,
      changed(key, entry) {
        if (key === KEY) announced = entry === undefined ? undefined : countIn(entry.string());
      },
    });
    return {
      streams: () => announced?.streams ?? asked,
      [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
    };
  } catch (error) {
    if (!isDenied(error)) throw error;
    log.warn({ eventStreams: asked, todo: 'print the NATS users of this version' }, 'layout.not_followed');
    return { streams: () => asked, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}

/** Undefined for a text that this version does not know. */
export function countIn(text: string): EventCount | undefined {
  try {
    const { streams, asked }: { streams?: unknown; asked?: unknown } = JSON.parse(text);
    return isCount(streams) && isCount(asked) ? { streams, asked } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST;
}
