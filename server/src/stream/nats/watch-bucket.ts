import { setTimeout as sleep } from 'node:timers/promises';
import type { KV, KvEntry } from '@nats-io/kv';
import type { Logger } from '../../log.ts';
import type { Connection } from './connect-nats.ts';

export type BucketWatchNeeds = {
  connection: Pick<Connection, 'onReconnect'>;
  bucket: KV;
  /** Called with each entry once and again when it changes; without an entry when it was deleted, with the deletion's text. */
  changed(key: string, entry: KvEntry | undefined, text: string): void;
  log: Logger;
};

type Watch = { revision: number; isClosed: boolean; stop(): void; read: PromiseWithResolvers<void> };

const RETRY_MS = 300;
const CHECK_MS = 2_000;

/**
 * Follows a bucket until disposed; resolves when all of it has been read once. A watch can stop silently when the server that feeds
 * it dies. So it is restarted from where it stopped after every reconnect; and every two seconds its position is compared with the
 * leader's, for a watch that stopped without a reconnect.
 */
export async function watchBucket(needs: BucketWatchNeeds): Promise<AsyncDisposable> {
  const watch: Watch = { revision: 0, isClosed: false, stop: () => undefined, read: Promise.withResolvers<void>() };
  const following = follow(watch, needs);
  const stopListening = needs.connection.onReconnect(() => watch.stop());
  const checker = setInterval(() => void restartIfStalled(watch, needs), CHECK_MS);
  await watch.read.promise;
  return {
    async [Symbol.asyncDispose]() {
      watch.isClosed = true;
      clearInterval(checker);
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

async function watchOnce(watch: Watch, needs: BucketWatchNeeds): Promise<void> {
  const { bucket } = needs;
  if ((await bucket.status()).values === 0) watch.read.resolve();
  const entries = await bucket.watch(watch.revision === 0 ? {} : { resumeFromRevision: watch.revision + 1 });
  watch.stop = () => entries.stop();
  // Disposed while it was being set up: it has to be stopped here.
  if (watch.isClosed) entries.stop();
  for await (const entry of entries) {
    tell(entry, needs);
    watch.revision = Math.max(watch.revision, entry.revision);
    if (entry.isUpdate) watch.read.resolve();
  }
}

/** An unreadable entry must not stop the watch. */
function tell(entry: KvEntry, { changed, log }: BucketWatchNeeds): void {
  try {
    changed(entry.key, entry.operation === 'PUT' ? entry : undefined, entry.string());
  } catch (error) {
    log.error({ key: entry.key, error: String(error) }, 'config.bad_entry');
  }
}

async function restartIfStalled(watch: Watch, { bucket, log }: BucketWatchNeeds): Promise<void> {
  const revision = watch.revision;
  const last = await lastRevision(bucket);
  await sleep(RETRY_MS);
  if (watch.isClosed || last <= revision || watch.revision !== revision) return;
  log.warn({ revision, last }, 'config.watch_stalled');
  watch.stop();
}

/** Zero when NATS does not answer: then there is nothing to catch up with either. */
async function lastRevision(bucket: KV): Promise<number> {
  try {
    const { last_seq: last, messages } = (await bucket.status()).streamInfo.state;
    // When all of its keys have expired, there is nothing that a watch could have missed.
    return messages === 0 ? 0 : last;
  } catch {
    return 0;
  }
}
