/**
 * Decides what this process works on. While there are no definitions it holds nothing and asks PostgreSQL every two seconds. With
 * definitions it looks at all positions every second: it takes streams by `share-positions.ts` and starts a reader for each, gives
 * back what is more than its share, and takes over the relay and the lifecycle if they have no holder. A reader that ends is forgotten;
 * the next look decides whether its stream is taken again.
 */
import { type Bell, pause } from '../pause.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { forgetFloors } from './forget-floors.ts';
import type { HeldPosition, PositionState } from './profiles/profile-store.ts';
import { endOf, type ReaderNeeds, startReader, type StreamReader } from './read-stream.ts';
import { RELAY, type Relay, type RelayNeeds, startRelay } from './relay.ts';
import { type Held, holdOne } from './hold-one.ts';
import { LIFECYCLE, type LifecycleNeeds, startLifecycle } from './lifecycle/start-lifecycle.ts';
import { openSharing } from './share-positions.ts';

export type HoldingNeeds = ReaderNeeds &
  Omit<RelayNeeds, 'bell'> &
  Omit<LifecycleNeeds, 'bell' | 'lagMs'> & {
    holder: string;
    /** Rings when definitions have changed. */
    bell: Bell;
    /** Rings when there is something to send. */
    outbox: Bell;
    /** Rings when the lifecycle of a definition has to go on. */
    lifecycle: Bell;
  };

const IDLE_MS = 2_000;
const LOOK_MS = 1_000;
const TROUBLE_MS = 1_000;
const LIST_MS = 5_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function holdPositions(needs: HoldingNeeds): AsyncDisposable {
  const { profiles, side, holder, bell, outbox, lifecycle, watermark, log } = needs;
  const life = new AbortController();
  const { signal } = life;
  const streamSharing = openSharing(holder);
  const readers = new Map<string, Held<StreamReader>>();
  const relay = holdOne(RELAY, (held) => startRelay(held, { ...needs, bell: outbox }), needs);
  const lagMs = () => Math.max(0, ...[...readers.values()].map(({ work }) => work.lagMs()));
  const lives = holdOne(LIFECYCLE, startLives, needs);
  let names: string[] = [];
  let listedMs = -Infinity;
  let floorsMs = -Infinity;
  let isTroubled = false;

  async function look(): Promise<number> {
    if (!(await profiles.hasDefinitions())) {
      await giveBackAll();
      await forgetAll();
      return IDLE_MS;
    }
    floorsMs = -Infinity;
    await list();
    const rows = await profiles.positions();
    watermark.seen(rows, names);
    await shareStreams(rows);
    await relay.look(rows);
    await lives.look(rows);
    return LOOK_MS;
  }

  async function list(): Promise<void> {
    if (performance.now() - listedMs < LIST_MS) return;
    names = await (side.readable?.() ?? side.streams());
    listedMs = performance.now();
  }

  async function shareStreams(rows: readonly PositionState[]): Promise<void> {
    const processes = side.processes();
    const held = new Set(readers.keys());
    const { take, giveBack } = streamSharing.look({ names, rows, held, processes, nowMs: performance.now() });
    for (const stream of giveBack) await stopReader(stream);
    for (const stream of take) {
      const taken = await profiles.takeOver(stream, holder);
      log.info({ stream, epoch: taken.epoch }, 'stream.held');
      const reader = { held: taken, work: startReader(taken, needs) };
      readers.set(stream, reader);
      void reader.work.ended.then((end) => {
        if (readers.get(stream) === reader) readers.delete(stream);
        if (end !== 'stopped') log.warn({ stream, end }, 'stream.left');
      });
    }
  }

  function startLives(held: HeldPosition) {
    const work = startLifecycle(held, { ...needs, bell: lifecycle, lagMs });
    const logUnexpected = (error: unknown) => log.error({ error: String(error) }, 'lifecycle.failed');
    return { ...work, ended: work.ended.catch((error: unknown) => endOf(error, () => logUnexpected(error))) };
  }

  async function stopReader(stream: string): Promise<void> {
    const reader = readers.get(stream);
    if (reader === undefined) return;
    readers.delete(stream);
    await reader.work.stop();
    if ((await reader.work.ended) === 'stopped') await profiles.release(reader.held);
    log.info({ stream }, 'stream.given_back');
  }

  async function giveBackAll(): Promise<void> {
    await lives.giveBack();
    await relay.giveBack();
    await Promise.all([...readers.keys()].map(stopReader));
  }

  /** Without definitions nothing is kept for them, and no place is known. */
  async function forgetAll(): Promise<void> {
    if (performance.now() - floorsMs < FLOORS_MS) return;
    await forgetFloors(side);
    await profiles.forgetPositions();
    floorsMs = performance.now();
  }

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      try {
        const waitMs = await look();
        if (isTroubled) log.info({}, 'compute.recovered');
        isTroubled = false;
        await bell.wait(waitMs);
      } catch (error) {
        if (!isTroubled && !signal.aborted) log.warn({ error: String(error) }, 'compute.waiting');
        isTroubled = true;
        await pause(TROUBLE_MS, signal);
      }
    }
    await giveBackAll().catch(() => undefined);
  }

  show(needs.metrics, readers, relay.work);
  const looking = keepLooking();
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      bell.ring();
      await looking;
    },
  };
}

/** How often a process without definitions looks for floors that another one has left, or that a cell kept while it was away. */
const FLOORS_MS = 60_000;

function show(metrics: Metrics, readers: Map<string, Held<StreamReader>>, relay: () => Relay | undefined): void {
  const most = (of: (reader: StreamReader) => number) =>
    Math.max(0, ...[...readers.values()].map(({ work }) => of(work)));
  metrics.gauge('millrace_compute_streams', () => readers.size);
  metrics.gauge('millrace_compute_lag_seconds', () => most((reader) => reader.lagMs()) / 1_000);
  metrics.gauge('millrace_compute_timers_overdue_seconds', () => most((reader) => reader.overdueMs()) / 1_000);
  metrics.gauge('millrace_compute_outbox_seconds', () => (relay()?.waitingMs() ?? 0) / 1_000);
}
