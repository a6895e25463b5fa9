import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { dropOldPartition, makeDayPartitions, makeMonthPartition } from '../store/record-partitions.ts';
import { forgetOldRefusals } from '../store/refusals.ts';
import { forgetOldSlots } from '../store/slot-counts.ts';
import { firstKeptDays, type RecordSettings } from './record-settings.ts';

export type PartitionNeeds = { store: Store; settings: RecordSettings; now(): Date; log: Logger };

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SLOTS_KEPT_MS = 8 * DAY_MS;

/** Creates today's and tomorrow's partitions ahead, and drops those older than the retention. */
export function keepPartitions(needs: PartitionNeeds): AsyncDisposable {
  let last = keep(needs);
  const timer = setInterval(() => {
    last = keep(needs);
  }, EVERY_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await last;
    },
  };
}

async function keep(needs: PartitionNeeds): Promise<void> {
  try {
    await makeAhead(needs);
    await dropOld(needs);
  } catch (error) {
    // The recorder creates missing partitions itself, and the next hour drops the old ones.
    needs.log.warn({ error: String(error) }, 'partitions.failed');
  }
}

async function makeAhead({ store, now }: PartitionNeeds): Promise<void> {
  for (const ahead of [0, DAY_MS]) {
    const day = new Date(now().getTime() + ahead).toISOString().slice(0, 10);
    await store.asSystem((tx) => makeDayPartitions(tx, day));
    await store.asSystem((tx) => makeMonthPartition(tx, day));
  }
}

export async function dropOld({ store, settings, now, log }: PartitionNeeds): Promise<string[]> {
  const kept = firstKeptDays(settings, now());
  const dropped: string[] = [];
  for (;;) {
    const name = await store.asSystem((tx) => dropOldPartition(tx, kept));
    if (name === undefined) break;
    dropped.push(name);
    log.info({ name }, 'partition.dropped');
  }
  await store.asSystem((tx) => forgetOldRefusals(tx, kept));
  await store.asSystem((tx) => forgetOldSlots(tx, new Date(now().getTime() - SLOTS_KEPT_MS)));
  return dropped;
}
