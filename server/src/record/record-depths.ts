import type { LaneHealth } from '../domain/lane-health.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { addDepthSlots, DEPTH_SLOT_MS, slotOf } from '../store/slot-counts.ts';
import { pause } from '../pause.ts';

export type DepthNeeds = {
  store: Store;
  lanes: { all(): Iterable<LaneHealth> };
  now(): Date;
  log: Logger;
  everyMs?: number;
};

const EVERY_MS = 60_000;
/** Only the deepest lanes are noted: when thousands of receivers are down, a chart of each is of no use. */
const MOST_LANES = 1_000;

/** Notes every minute how many deliveries wait in each lane. A note that fails is dropped: the next one follows in a minute. */
export function recordDepths({ everyMs = EVERY_MS, ...needs }: DepthNeeds): AsyncDisposable {
  const stopping = new AbortController();
  const recording = (async () => {
    while (!stopping.signal.aborted) {
      await pause(everyMs, stopping.signal);
      if (!stopping.signal.aborted) await recordNow(needs);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await recording;
    },
  };
}

async function recordNow({ store, lanes, now, log }: DepthNeeds): Promise<void> {
  const deep = [...lanes.all()].filter(({ depth }) => depth > 0).sort((one, other) => other.depth - one.depth);
  try {
    await store.asSystem((tx) => addDepthSlots(tx, slotOf(now().getTime(), DEPTH_SLOT_MS), deep.slice(0, MOST_LANES)));
  } catch (error) {
    log.debug({ error: String(error) }, 'depths.dropped');
  }
}
