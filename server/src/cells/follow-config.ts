/**
 * The configuration of collect while cells come and go. Every bucket has all sources, so collect reads any of them: that of its home while
 * home is connected, and else that of another cell. A view is in use, or replaced by one of a connected cell when its own was away
 * for five seconds; home is used again when it has been back for thirty. `look` moves it, every second.
 */
import { NO_CELL, type SourceConfig } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import { pause } from '../pause.ts';
import type { CollectConfig, ConfigView } from '../stream/config/config-bucket.ts';

export type ConfigCell = {
  name: string;
  isConnected(): boolean;
  openView(): Promise<ConfigView>;
};

export type FollowNeeds = {
  home: { name: string; isConnected(): boolean; view: ConfigView };
  others: readonly ConfigCell[];
  log: Logger;
  times?: { lookMs: number; awayMs: number; backMs: number; openMs: number };
};

export type FollowedConfig = AsyncDisposable & { config: CollectConfig; cell(): string };

/** A bucket of a million sources is read within a minute. */
const TIMES = { lookMs: 1_000, awayMs: 5_000, backMs: 30_000, openMs: 60_000 };

type Used = { name: string; isConnected(): boolean; view: ConfigView };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function followConfig({ home, others, log, times = TIMES }: FollowNeeds): FollowedConfig {
  const life = new AbortController();
  const { signal } = life;
  let used: Used = home;
  /** Monotonic: since when the cell in use is away, and since when home is back. */
  let awaySince: number | undefined;
  let backSince: number | undefined;
  /** The cell whose configuration could not be read last: another one is tried before it. */
  let failed: string | undefined;
  /** The view of another cell is on its way. */
  let isOpening = false;

  async function look(): Promise<void> {
    const now = performance.now();
    awaySince = used.isConnected() ? undefined : (awaySince ?? now);
    backSince = home.isConnected() ? (backSince ?? now) : undefined;
    const isBack = used !== home && backSince !== undefined && now - backSince >= times.backMs;
    if (isBack) return use(home);
    if (awaySince === undefined || now - awaySince < times.awayMs) return;
    if (home.isConnected()) return use(home);
    const found = others.filter((each) => each.name !== used.name && each.isConnected());
    const other = found.find((each) => each.name !== failed) ?? found[0];
    if (other === undefined || isOpening) return;
    isOpening = true;
    void open(other).finally(() => (isOpening = false));
  }

  /** The looks do not wait for this view: a cell without a leader does not answer, and home may come back meanwhile. */
  async function open(cell: ConfigCell): Promise<void> {
    try {
      failed = cell.name;
      const view = await openWithin(cell, times.openMs, signal);
      failed = undefined;
      if (signal.aborted || awaySince === undefined) await view[Symbol.asyncDispose]();
      else await use({ name: cell.name, isConnected: cell.isConnected, view });
    } catch (error) {
      notFollowed(error);
    }
  }

  function notFollowed(error: unknown): void {
    if (!signal.aborted) log.warn({ error: String(error) }, 'config.not_followed');
  }

  async function use(next: Used): Promise<void> {
    if (next === used) return;
    const before = used;
    used = next;
    awaySince = undefined;
    log.warn({ from: before.name, to: next.name }, 'config.followed');
    // The home view belongs to the process.
    if (before !== home) await before.view[Symbol.asyncDispose]();
  }

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      await pause(times.lookMs, signal);
      await look().catch(notFollowed);
    }
  }

  const looking = others.length === 0 ? undefined : keepLooking();
  return {
    cell: () => used.name,
    config: {
      sourceByKeyHash(hash) {
        const source = used.view.sourceByKeyHash(hash);
        return source !== undefined || used === home ? source : unsure(home.view.sourceByKeyHash(hash));
      },
      userMark: (...of) => used.view.userMark(...of),
      hasMarks: (sourceId) => used.view.hasMarks(sourceId),
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      await looking;
      if (used !== home) await used.view[Symbol.asyncDispose]();
    },
  };
}

/**
 * A key that home knew and the bucket in use does not: it was revoked, or this bucket is behind, as that of a new cell is. Clients drop calls
 * after a 401, so they are told to come back: no cell takes the request.
 */
function unsure(source: SourceConfig | undefined): SourceConfig | undefined {
  if (source === undefined) return undefined;
  const { spare: _, ...rest } = source;
  return { ...rest, cell: NO_CELL };
}

/** Rejects after a while, or at the end: the bucket of a cell without a leader is never read. */
async function openWithin(cell: ConfigCell, ms: number, signal: AbortSignal): Promise<ConfigView> {
  const own = new AbortController();
  const opening = cell.openView();
  const view = await Promise.race([opening, pause(ms, AbortSignal.any([signal, own.signal]))]);
  own.abort();
  if (view !== undefined) return view;
  // It may still open: nothing uses it then.
  void opening.then(
    (late) => late[Symbol.asyncDispose](),
    () => undefined,
  );
  throw new Error(`the configuration in the cell ${cell.name} could not be read within ${ms} ms`);
}
