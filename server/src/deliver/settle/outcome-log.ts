import type { Logger } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import { type GatheredBatch, openLeanBatch, openWholeBatch } from '../../domain/lean-outcomes.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Recorder = Disposable & {
  /** Resolves when it is stored, on its way to the record. */
  record(entry: OutcomeEntry): Promise<void>;
};

type Gathering = { batch: GatheredBatch; beganAt: number; timer: NodeJS.Timeout; stored: PromiseWithResolvers<void> };

/**
 * A process that is killed repeats the deliveries whose outcomes it has gathered. So it gathers for as short a time as pays: until a few are
 * together, which takes long only where few come, and not more often than makes a write cheap for each.
 */
const GATHER_MS = 20;
const FEW_ENTRIES = 16;
const SHORTEST_MS = 6;
const MAX_ENTRIES = 500;
const MAX_BYTES = 262_144;

/**
 * Gathers entries of the record, for each stream of outcomes apart, and stores them before the requests behind them are acknowledged: so the record cannot miss an
 * attempt that a receiver has seen. Without room in the stream it drops the batch and logs that: the record must not stop
 * deliveries.
 */
export function openRecorder({ outcomes, log }: { outcomes: Outcomes; log: Logger }): Recorder {
  /** By the number of the home stream. */
  const gatherings = new Map<number, Gathering>();

  function storeGathered(home: number): void {
    const gathering = gatherings.get(home);
    if (gathering === undefined) return;
    gatherings.delete(home);
    clearTimeout(gathering.timer);
    void store(gathering, home);
  }

  async function store({ batch, stored }: Gathering, home: number): Promise<void> {
    const text = batch.text();
    const answer = await whenAvailable(() => outcomes.append(text, home));
    if (answer === 'full') log.error({ entries: batch.size() }, 'record.refused');
    stored.resolve();
  }

  function begin(home: number): Gathering {
    const timer = setTimeout(storeGathered, GATHER_MS, home);
    const batch = outcomes.format === 'lean' ? openLeanBatch() : openWholeBatch();
    const gathering = { batch, beganAt: performance.now(), timer, stored: Promise.withResolvers<void>() };
    gatherings.set(home, gathering);
    return gathering;
  }

  return {
    record(entry) {
      const home = outcomes.homeOf(entry.deliveryId);
      const gathering = gatherings.get(home) ?? begin(home);
      gathering.batch.add(entry);
      if (isEnough(gathering)) storeGathered(home);
      return gathering.stored.promise;
    },
    [Symbol.dispose]() {
      for (const { timer } of gatherings.values()) clearTimeout(timer);
    },
  };
}

function isEnough({ batch, beganAt }: Gathering): boolean {
  if (batch.size() >= MAX_ENTRIES || batch.bytes() >= MAX_BYTES) return true;
  return batch.size() >= FEW_ENTRIES && performance.now() - beganAt >= SHORTEST_MS;
}
