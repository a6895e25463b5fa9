/**
 * A deleted key of a bucket leaves a delete marker, which tells watchers of the deletion. A process that was cut off for longer than
 * the markers are kept would miss it, so they are kept for long.
 */
import { jetstream, type JetStreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { bucketStream, bucketSubject, CONFIG_BUCKET, HEALTH_BUCKET } from '../layout/layout.ts';

export type MarksNeeds = { connection: Connection; manager: JetStreamManager; now(): number; log: Logger };

const KEPT_MS = 7 * 86_400_000;
const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 6 * 3_600_000;

/** Looks now and then. Two processes that purge the same purge it once. */
export function purgeMarks(needs: MarksNeeds): Disposable {
  let timer: NodeJS.Timeout;
  const wait = (ms: number) => {
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  const look = async () => {
    for (const bucket of [CONFIG_BUCKET, HEALTH_BUCKET]) {
      try {
        const marks = await purgeOldMarks(bucket, needs);
        if (marks > 0) needs.log.info({ bucket, marks }, 'marks.purged');
      } catch (error) {
        needs.log.warn({ bucket, error: String(error) }, 'marks.not_purged');
      }
    }
    wait(EVERY_MS);
  };
  wait(FIRST_AFTER_MS);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

type Mark = { key: string; revision: number };

/** The last message of a bucket stays: its sequence tells watchers whether they missed something. */
export async function purgeOldMarks(name: string, { connection, manager, now }: MarksNeeds): Promise<number> {
  const bucket = await new Kvm(jetstream(connection.nc)).open(name);
  const stream = bucketStream(name);
  const { state } = await manager.streams.info(stream);
  const marks: Mark[] = [];
  for await (const { key, revision, operation, created } of await bucket.history()) {
    const isOld = created.getTime() < now() - KEPT_MS;
    if (operation !== 'PUT' && isOld && revision < state.last_seq) marks.push({ key, revision });
  }
  // Only up to the marker: the key may have been written again since.
  for (const { key, revision } of marks) {
    await manager.streams.purge(stream, { filter: bucketSubject(name, key), seq: revision + 1 });
  }
  return marks.length;
}
