import type { Logger } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import { type GatheredBatch, openLeanBatch, openWholeBatch } from '../../domain/lean-outcomes.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Recorder = Disposable & {
  /** Resolves when it is stored, on its way to the record. */
  record(entry: OutcomeEntry): Promise<void>;
};

export type OutcomeLogNeeds = {
  outcomes: Outcomes;
  log: Logger;
  /** On the monotonic clock. */
  uptimeMs?(): number;
};

type Gathering = { batch: GatheredBatch; beganAt: number; timer: NodeJS.Timeout; stored: PromiseWithResolvers<void> };

/** A stream of outcomes: the batch gathered for it, its unanswered writes, and the duration of the last one. */
type Home = { gathering?: Gathering | undefined; unanswered: number; tookMs: number };

/** A process that is killed repeats the deliveries whose outcomes are not stored yet. So nothing is gathered for longer than this. */
const GATHER_MS = 20;
/**
 * In a burst it stores earlier, once so many are together and so much time has passed. A stream syncs its writes one after the other:
 * an early one that is not over soon makes all behind it later. So none begins while another is under way, and each is gathered for
 * longer than the last one took, by this factor. A slow disk gets as many writes as without a burst.
 */
const FEW_ENTRIES = 16;
const SHORTEST_MS = 6;
const REST_FACTOR = 2;
const MAX_ENTRIES = 500;
const MAX_BYTES = 262_144;

/**
 * Gathers entries of the record, for each stream of outcomes apart, and stores them before the requests behind them are acknowledged: so the record cannot miss an
 * attempt that a receiver has seen. Without room in the stream it drops the batch and logs that: the record must not stop
 * deliveries.
 */
export function openRecorder({ outcomes, log, uptimeMs = () => performance.now() }: OutcomeLogNeeds): Recorder {
  /** By the number of the stream. */
  const homes = new Map<number, Home>();

  function storeGathered(home: Home, index: number): void {
    const { gathering } = home;
    if (gathering === undefined) return;
    home.gathering = undefined;
    clearTimeout(gathering.timer);
    void store(gathering, home, index);
  }

  async function store({ batch, stored }: Gathering, home: Home, index: number): Promise<void> {
    const text = batch.text();
    const startedAt = uptimeMs();
    home.unanswered += 1;
    const answer = await whenAvailable(() => outcomes.append(text, index));
    home.unanswered -= 1;
    home.tookMs = uptimeMs() - startedAt;
    if (answer === 'full') log.error({ entries: batch.size() }, 'record.refused');
    stored.resolve();
  }

  function begin(home: Home, index: number): Gathering {
    const timer = setTimeout(storeGathered, GATHER_MS, home, index);
    const batch = outcomes.format === 'lean' ? openLeanBatch() : openWholeBatch();
    const gathering = { batch, beganAt: uptimeMs(), timer, stored: Promise.withResolvers<void>() };
    home.gathering = gathering;
    return gathering;
  }

  return {
    record(entry) {
      const index = outcomes.homeOf(entry.deliveryId);
      const home = homeIn(homes, index);
      const gathering = home.gathering ?? begin(home, index);
      gathering.batch.add(entry);
      if (isEnough(gathering, home, uptimeMs)) storeGathered(home, index);
      return gathering.stored.promise;
    },
    [Symbol.dispose]() {
      for (const { gathering } of homes.values()) clearTimeout(gathering?.timer);
    },
  };
}

function homeIn(homes: Map<number, Home>, index: number): Home {
  const home = homes.get(index) ?? { unanswered: 0, tookMs: 0 };
  homes.set(index, home);
  return home;
}

function isEnough({ batch, beganAt }: Gathering, { unanswered, tookMs }: Home, uptimeMs: () => number): boolean {
  if (batch.size() >= MAX_ENTRIES || batch.bytes() >= MAX_BYTES) return true;
  if (batch.size() < FEW_ENTRIES || unanswered > 0) return false;
  return uptimeMs() - beganAt >= Math.max(SHORTEST_MS, tookMs * REST_FACTOR);
}
