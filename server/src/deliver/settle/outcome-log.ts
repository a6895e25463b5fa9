import type { Logger } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Recorder = Disposable & {
  /** Resolves when it is stored, on its way to the record. */
  record(entry: OutcomeEntry): Promise<void>;
};

type Gathering = { texts: string[]; bytes: number; timer: NodeJS.Timeout; stored: PromiseWithResolvers<void> };

const GATHER_MS = 20;
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

  async function store({ texts, stored }: Gathering, home: number): Promise<void> {
    const batch = `{"entries":[${texts.join(',')}]}`;
    const answer = await whenAvailable(() => outcomes.append(batch, home));
    if (answer === 'full') log.error({ entries: texts.length }, 'record.refused');
    stored.resolve();
  }

  function begin(home: number): Gathering {
    const timer = setTimeout(storeGathered, GATHER_MS, home);
    const gathering = { texts: [], bytes: 0, timer, stored: Promise.withResolvers<void>() };
    gatherings.set(home, gathering);
    return gathering;
  }

  return {
    record(entry) {
      const text = JSON.stringify(entry);
      const home = outcomes.homeOf(entry.deliveryId);
      const gathering = gatherings.get(home) ?? begin(home);
      gathering.texts.push(text);
      gathering.bytes += text.length;
      if (gathering.texts.length >= MAX_ENTRIES || gathering.bytes >= MAX_BYTES) storeGathered(home);
      return gathering.stored.promise;
    },
    [Symbol.dispose]() {
      for (const { timer } of gatherings.values()) clearTimeout(timer);
    },
  };
}
