/** Receivers that worked in the last day, for every deliver process: a key for each destination, without a value. */
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { bucketSubject, WORKED_BUCKET } from '../layout/layout.ts';
import { watchBucket } from '../nats/watch-bucket.ts';
import { whenSettled } from '../nats/when-settled.ts';

export type WorkedBucket = {
  /** Not waited for, and not repeated: a mark that is lost is written again in an hour. */
  put(destinationId: string): void;
  /** Calls with each mark and the time at which the engine stored it; resolves when all have been read once. */
  watch(marked: (destinationId: string, at: number) => void): Promise<AsyncDisposable>;
};

const NOTHING = new Uint8Array();

export function openWorkedBucket(connection: Connection, log: Logger): WorkedBucket {
  const { nc } = connection;
  return {
    put(destinationId) {
      if (connection.isConnected()) nc.publish(bucketSubject(WORKED_BUCKET, destinationId), NOTHING);
    },
    async watch(marked) {
      const kvm = new Kvm(jetstream(nc, { timeout: 1_500 }));
      const bucket = await whenSettled(() => kvm.open(WORKED_BUCKET));
      const changed: Parameters<typeof watchBucket>[0]['changed'] = (destinationId, entry) => {
        if (entry !== undefined) marked(destinationId, entry.storedAt());
      };
      return watchBucket({ name: WORKED_BUCKET, bucket, connection, log, changed });
    },
  };
}
