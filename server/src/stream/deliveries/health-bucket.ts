/** The health of lanes in use, for people and for the gates of every deliver process. */
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { FORMATS } from '../../domain/format.ts';
import { readHealth } from '../../domain/read-health.ts';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { bucketSubject, HEALTH_BUCKET } from '../layout/layout.ts';
import { type DurableNeeds, publishDurably } from '../nats/publish-durably.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import { type BucketEntry, watchBucket } from '../nats/watch-bucket.ts';
import { whenSettled } from '../nats/when-settled.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';

export type HealthBucket = {
  /** False when NATS did not take it. */
  put(health: LaneHealth): Promise<boolean>;
  remove(destinationId: string): Promise<void>;
  watch(changed: (destinationId: string, health: LaneHealth | undefined) => void): Promise<AsyncDisposable>;
};

export type HealthNeeds = DurableNeeds & { watching: Connection; quarantine: Quarantine; log: Logger };

/** An entry may be lost: the next look at the lane writes it again. */
export function openHealthBucket({ watching, log, ...needs }: HealthNeeds): HealthBucket {
  const subject = (destinationId: string) => bucketSubject(HEALTH_BUCKET, destinationId);
  return {
    async put(health) {
      const payload = Buffer.from(JSON.stringify({ ...health, v: FORMATS.health }));
      return (await publishDurably({ subject: subject(health.destinationId), payload }, needs)).kind === 'stored';
    },
    async remove(destinationId) {
      const headers = [['KV-Operation', 'DEL']] as const;
      await publishDurably({ subject: subject(destinationId), headers, payload: new Uint8Array() }, needs);
    },
    watch(changed) {
      const unreadable = (entry: BucketEntry, why: string) =>
        void setAsideHealth(entry, why, needs).catch(() => undefined);
      return watchHealth({ watching, log, unreadable }, changed);
    },
  };
}

export type WatchNeeds = Pick<HealthNeeds, 'watching' | 'log'> & { unreadable?(entry: BucketEntry, why: string): void };

/** Moves an unreadable entry into quarantine. An entry that took its place meanwhile stays. */
async function setAsideHealth(
  entry: BucketEntry,
  why: string,
  { quarantine, ...needs }: Omit<HealthNeeds, 'watching' | 'log'>,
): Promise<void> {
  const { key, revision } = entry;
  const subject = `$KV.${HEALTH_BUCKET}.${key}`;
  const from = { stream: `KV_${HEALTH_BUCKET}`, subject, sequence: revision };
  const kept = await quarantine.append({ kind: 'health', payload: Buffer.from(entry.string()), from, why });
  if (kept !== 'stored') return;
  const headers = [
    ['KV-Operation', 'DEL'],
    ['Nats-Expected-Last-Subject-Sequence', String(revision)],
  ] as const;
  await publishDurably({ subject, headers, payload: new Uint8Array() }, needs);
}

/** Calls with each lane that is in use, and again when something changes. */
export async function watchHealth(
  { watching, log, unreadable }: WatchNeeds,
  changed: (destinationId: string, health: LaneHealth | undefined) => void,
): Promise<AsyncDisposable> {
  const kvm = new Kvm(jetstream(watching.nc, { timeout: 1_500 }));
  const bucket = await whenSettled(() => kvm.open(HEALTH_BUCKET));
  return watchBucket({
    name: HEALTH_BUCKET,
    bucket,
    connection: watching,
    log,
    changed(key, entry) {
      const read = entry === undefined ? undefined : readHealth(entry.string());
      if (read?.ok !== false) return changed(key, read?.value);
      if (read.problem === 'unreadable' && entry !== undefined) unreadable?.(entry, read.why);
      // The watcher keeps the entry before until the next look at the lane, which writes it again.
      throw new Error(`${read.problem}: ${read.why}`);
    },
  });
}
