import type { Logger } from '../log.ts';
import { pause } from '../pause.ts';
import type { Store } from '../store/open-store.ts';
import { dropOldPartition, makeDayPartitions, makeMonthPartition } from '../store/record-partitions.ts';
import { dropOldChunks } from '../store/outcome-exports.ts';
import { forgetOldRefusals } from '../store/refusals.ts';
import { forgetOldSlots } from '../store/slot-counts.ts';
import { firstExportedDay, firstKeptDays, type RecordSettings, retentionDays } from './record-settings.ts';

export type PartitionNeeds = { store: Store; settings: RecordSettings; now(): Date; log: Logger };

const EVERY_MS = 3_600_000;
const AGAIN_MS = 60_000;
/** Not earlier: the rate of the day before decides how large tomorrow's are. */
const AHEAD_MS = 3 * EVERY_MS;
const DAY_MS = 86_400_000;
const SLOTS_KEPT_MS = 8 * DAY_MS;

/** Creates today's partitions and soon tomorrow's, and drops those older than the retention. */
export function keepPartitions(needs: PartitionNeeds): AsyncDisposable {
  const life = new AbortController();
  const run = async () => {
    for (let failures = 0; !life.signal.aborted; ) {
      failures = (await keep(needs)) ? 0 : failures + 1;
      await pause(waitAfter(failures), life.signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await running;
    },
  };
}

/**
 * Exponential backoff from a minute to an hour: recorders and readers queue behind each drop that is refused, for as long as it waits for
 * its lock, and a dump of the database refuses it for hours.
 */
export function waitAfter(failures: number): number {
  return failures === 0 ? EVERY_MS : Math.min(EVERY_MS, AGAIN_MS * 2 ** (failures - 1));
}

const STEPS: Readonly<Record<string, (needs: PartitionNeeds) => Promise<unknown>>> = {
  make: makeAhead,
  drop: dropOld,
  drop_chunks: dropChunks,
  forget_refusals: ({ store, settings, now }) =>
    store.asSystem((tx) => forgetOldRefusals(tx, firstKeptDays(settings, now()))),
  forget_slots: ({ store, now }) =>
    store.asSystem((tx) => forgetOldSlots(tx, new Date(now().getTime() - SLOTS_KEPT_MS))),
};

/** Takes every step, also after one that failed; resolves with whether all went well. */
async function keep(needs: PartitionNeeds): Promise<boolean> {
  let isDone = true;
  for (const [step, take] of Object.entries(STEPS)) {
    try {
      await take(needs);
    } catch (error) {
      // The recorder creates missing partitions itself. An old one that is being read is dropped later.
      needs.log.warn({ step, error: String(error) }, 'partitions.failed');
      isDone = false;
    }
  }
  return isDone;
}

async function makeAhead({ store, settings, now }: PartitionNeeds): Promise<void> {
  for (const ahead of [0, AHEAD_MS]) {
    const day = new Date(now().getTime() + ahead).toISOString().slice(0, 10);
    await store.asSystem((tx) => makeDayPartitions(tx, day, retentionDays(settings)));
    await store.asSystem((tx) => makeMonthPartition(tx, day));
  }
}

export async function dropOld({ store, settings, now, log }: PartitionNeeds): Promise<string[]> {
  const kept = firstKeptDays(settings, now());
  const dropped: string[] = [];
  for (;;) {
    const name = await store.asSystem((tx) => dropOldPartition(tx, kept));
    if (name === undefined) return dropped;
    dropped.push(name);
    log.info({ name }, 'partition.dropped');
  }
}

async function dropChunks({ store, settings, now }: PartitionNeeds): Promise<void> {
  const exportedFrom = firstExportedDay(settings, now());
  while ((await store.asSystem((tx) => dropOldChunks(tx, exportedFrom))) !== undefined);
}
