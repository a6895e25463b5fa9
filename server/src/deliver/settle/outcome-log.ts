import type { Logger } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Recorder = Disposable & {
  /** Resolves when it is stored, on its way to the record. */
  record(entry: OutcomeEntry): Promise<void>;
};

type Gathering = { texts: string[]; bytes: number; stored: PromiseWithResolvers<void> };

const GATHER_MS = 20;
const MAX_ENTRIES = 500;
const MAX_BYTES = 262_144;

/**
 * Gathers entries of the record and stores them before the requests behind them are acknowledged: so the record cannot miss an
 * attempt that a receiver has seen. Without room in the stream it drops the batch and logs that: the record must not stop
 * deliveries.
 */
export function openRecorder({ outcomes, log }: { outcomes: Outcomes; log: Logger }): Recorder {
  let gathering: Gathering | undefined;
  let timer: NodeJS.Timeout | undefined;

  function storeGathered(): void {
    clearTimeout(timer);
    timer = undefined;
    if (gathering !== undefined) void store(gathering);
    gathering = undefined;
  }

  async function store({ texts, stored }: Gathering): Promise<void> {
    const batch = `{"entries":[${texts.join(',')}]}`;
    const answer = await whenAvailable(() => outcomes.append(batch));
    if (answer === 'full') log.error({ entries: texts.length }, 'record.refused');
    stored.resolve();
  }

  return {
    record(entry) {
      const text = JSON.stringify(entry);
      gathering ??= { texts: [], bytes: 0, stored: Promise.withResolvers() };
      const { stored } = gathering;
      gathering.texts.push(text);
      gathering.bytes += text.length;
      timer ??= setTimeout(storeGathered, GATHER_MS);
      if (gathering.texts.length >= MAX_ENTRIES || gathering.bytes >= MAX_BYTES) storeGathered();
      return stored.promise;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
