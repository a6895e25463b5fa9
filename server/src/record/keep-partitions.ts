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
    while (!life.signal.aborted) {
      const isDone = await keep(needs);
      await pause(isDone ? EVERY_MS : AGAIN_MS, life.signal);
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

async function keep(needs: PartitionNeeds): Promise<boolean> {
  try {
    await makeAhead(needs);
    await dropOld(needs);
    return true;
  } catch (error) {
    // The recorder creates missing partitions itself. An old one that is being read is dropped later.
    needs.log.warn({ error: String(error) }, 'partitions.failed');
    return false;
  }
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
    if (name === undefined) break;
    dropped.push(name);
    log.info({ name }, 'partition.dropped');
  }
  const exportedFrom = firstExportedDay(settings, now());
  while ((await store.asSystem((tx) => dropOldChunks(tx, exportedFrom))) !== undefined);
  await store.asSystem((tx) => forgetOldRefusals(tx, kept));
  await store.asSystem((tx) => forgetOldSlots(tx, new Date(now().getTime() - SLOTS_KEPT_MS)));
  return dropped;
}
