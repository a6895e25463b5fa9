import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeliverPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type ConsumerInfo,
  type JsMsg,
  type PushConsumer,
} from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { MsgHdrs } from '@nats-io/nats-core';
import type { Logger } from '../../log.ts';
import { bucketStream, bucketSubject } from '../layout/layout.ts';
import type { Connection } from './connect-nats.ts';
import { every } from '../../pause.ts';

export type BucketEntry = {
  key: string;
  revision: number;
  /** In milliseconds, by the clock of the server that leads the bucket. */
  storedAt(): number;
  string(): string;
};

export type BucketWatchNeeds = {
  connection: Pick<Connection, 'nc' | 'onReconnect'>;
  /** Its name, and the bucket itself. */
  name: string;
  bucket: KV;
  /** A pattern of the keys that are wanted; without it all of the bucket is. One only: NATS permits a list of them to no role. */
  keys?: string;
  /** Called with each entry once and again when it changes; without an entry when it was deleted, with the deletion's text. */
  changed(key: string, entry: BucketEntry | undefined, text: string): void;
  log: Logger;
};

type Watch = {
  revision: number;
  isClosed: boolean;
  stop(): void;
  read: PromiseWithResolvers<void>;
  consumer: PushConsumer | undefined;
  /** The consumer that sent the last message, and the number that it gave to it. */
  last: { consumer: string; delivered: number };
  /** When the stream of the bucket was created, as far as it is known. */
  created: number | undefined;
};

const RETRY_MS = 300;
const CHECK_MS = 2_000;
/** A single server cannot die without the connection to it. */
const CHECK_ALONE_MS = 30_000;
const API_TIMEOUT_MS = 1_500;

/**
 * Follows a bucket until disposed; resolves when all of it has been read once. A watch can stop silently when the server that feeds
 * it dies. So it is restarted from where it stopped after every reconnect; and its position is compared with the server's, in a
 * cluster every two seconds, for a watch that stopped without a reconnect. A bucket that was made anew or restored counts from a
 * lower revision again: it is read from its beginning. Entries that it lacks stay as they were.
 */
export async function watchBucket(needs: BucketWatchNeeds): Promise<AsyncDisposable> {
  const watch: Watch = {
    revision: 0,
    isClosed: false,
    stop: () => undefined,
    read: Promise.withResolvers<void>(),
    consumer: undefined,
    last: { consumer: '', delivered: 0 },
    created: undefined,
  };
  const following = follow(watch, needs);
  const stopListening = needs.connection.onReconnect(() => watch.stop());
  const isClustered = needs.connection.nc.info?.cluster !== undefined;
  const checker = every(isClustered ? CHECK_MS : CHECK_ALONE_MS, () => void check(watch, needs));
  await watch.read.promise;
  return {
    async [Symbol.asyncDispose]() {
      watch.isClosed = true;
      checker[Symbol.dispose]();
      stopListening();
      watch.stop();
      await following;
    },
  };
}

async function follow(watch: Watch, needs: BucketWatchNeeds): Promise<void> {
  while (!watch.isClosed) {
    try {
      await watchOnce(watch, needs);
    } catch (error) {
      if (!watch.isClosed) needs.log.warn({ error: String(error) }, 'config.watch_failed');
    }
    if (!watch.isClosed) await sleep(RETRY_MS);
  }
}

/** The ordered consumer of the KV library, without its queue: a bucket of a million entries is not held twice. */
async function watchOnce(watch: Watch, needs: BucketWatchNeeds): Promise<void> {
  const { connection, name, keys = '>' } = needs;
  const { revision } = watch;
  const from = revision === 0 ? { deliver_policy: DeliverPolicy.LastPerSubject } : { opt_start_seq: revision + 1 };
  const { consumers } = jetstream(connection.nc, { timeout: API_TIMEOUT_MS });
  const filter_subjects = bucketSubject(name, keys);
  const consumer = await consumers.getPushConsumer(bucketStream(name), { filter_subjects, ...from });
  let left = (await consumer.info(true)).num_pending;
  if (left === 0) watch.read.resolve();
  const prefixLength = bucketSubject(name, '').length;
  const messages = await consumer.consume({
    callback(message) {
      tell(message, message.subject.slice(prefixLength), needs);
      watch.revision = Math.max(watch.revision, message.seq);
      watch.last = { consumer: message.info.consumer, delivered: message.info.deliverySequence };
      left -= 1;
      if (left <= 0 || message.info.pending === 0) watch.read.resolve();
    },
  });
  watch.consumer = consumer;
  watch.stop = () => messages.stop();
  // Disposed, or the bucket found to be another one, while it was being set up: it has to be stopped here.
  if (watch.isClosed || watch.revision < revision) messages.stop();
  const error = await messages.closed();
  if (error instanceof Error) throw error;
}

/** An unreadable entry must not stop the watch. */
function tell(message: JsMsg, key: string, { changed, log }: BucketWatchNeeds): void {
  try {
    const isPut = message.headers === undefined || isPutBy(message.headers);
    const text = message.string();
    const storedAt = () => message.time.getTime();
    changed(key, isPut ? { key, revision: message.seq, storedAt, string: () => text } : undefined, text);
  } catch (error) {
    log.error({ key, error: String(error) }, 'config.bad_entry');
  }
}

/** NATS itself marks an entry whose time was over. */
function isPutBy(headers: MsgHdrs): boolean {
  return headers.get('KV-Operation') === '' && !headers.has('Nats-Marker-Reason');
}

async function check(watch: Watch, needs: BucketWatchNeeds): Promise<void> {
  const { revision, last, consumer } = watch;
  const found = await find(needs.bucket);
  const isOther = isAnew(found, watch.created, revision);
  watch.created ??= found?.created;
  if (!isOther && !(await hasMore(watch, found, needs.keys))) return;
  await sleep(RETRY_MS);
  if (isOther) return readAnew(watch, revision, needs);
  if (watch.isClosed || watch.consumer !== consumer || watch.revision !== revision) return;
  needs.log.warn({ revision, ...last }, 'config.watch_stalled');
  watch.stop();
}

/** Whether the bucket is another one than the watch has read up to this revision. */
function isAnew(found: Found | undefined, created: number | undefined, revision: number): boolean {
  return found !== undefined && (found.lastRevision < revision || found.created !== (created ?? found.created));
}

/** It asks once more before: a leader that was just elected may not have all revisions yet that a replica has sent. */
async function readAnew(watch: Watch, revision: number, { name, bucket, log }: BucketWatchNeeds): Promise<void> {
  const found = await find(bucket);
  if (watch.isClosed || !isAnew(found, watch.created, revision)) return;
  log.warn({ bucket: name, revision }, 'config.bucket_anew');
  watch.created = found?.created;
  watch.revision = 0;
  watch.stop();
}

/** Whether there is something that did not arrive. The last revision tells nothing about a part of the keys: its consumer does. */
async function hasMore(
  { revision, last, consumer }: Watch,
  found: Found | undefined,
  keys: string | undefined,
): Promise<boolean> {
  // When all of its keys have expired, there is nothing that a watch could have missed; without an answer nothing can be caught up with.
  const isBehind = found?.isEmpty === false && found.lastRevision > revision;
  if (keys === undefined || consumer === undefined) return isBehind;
  try {
    return isAhead(await consumer.info(), last);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound) return true;
    // The server that has the consumer may be gone. The bucket may have changed since; entries of other keys count too.
    return isBehind;
  }
}

function isAhead({ name, num_pending: pending, delivered }: ConsumerInfo, last: Watch['last']): boolean {
  return pending > 0 || delivered.consumer_seq > (name === last.consumer ? last.delivered : 0);
}

type Found = { created: number; lastRevision: number; isEmpty: boolean };

/** Undefined when NATS does not answer. */
async function find(bucket: KV): Promise<Found | undefined> {
  try {
    const { created, state } = (await bucket.status()).streamInfo;
    return { created: Date.parse(created), lastRevision: state.last_seq, isEmpty: state.messages === 0 };
  } catch {
    return undefined;
  }
}
