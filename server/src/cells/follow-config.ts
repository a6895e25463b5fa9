/**
 * The configuration of collect while cells come and go. Every bucket has all sources, so collect reads any of them: that of its home while
 * home is connected, and else that of another cell. A view is in use, or replaced by one of a connected cell when its own was away
 * for five seconds; home is used again when it has been back for thirty. `look` moves it, every second.
 */
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
  times?: { lookMs: number; awayMs: number; backMs: number };
};

export type FollowedConfig = AsyncDisposable & { config: CollectConfig; cell(): string };

const TIMES = { lookMs: 1_000, awayMs: 5_000, backMs: 30_000 };

type Used = { name: string; isConnected(): boolean; view: ConfigView };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function followConfig({ home, others, log, times = TIMES }: FollowNeeds): FollowedConfig {
  const life = new AbortController();
  const { signal } = life;
  let used: Used = home;
  /** Monotonic: since when the cell in use is away, and since when home is back. */
  let awaySince: number | undefined;
  let backSince: number | undefined;
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
    const other = others.find((each) => each.name !== used.name && each.isConnected());
    if (other === undefined || isOpening) return;
    isOpening = true;
    void open(other).finally(() => (isOpening = false));
  }

  /** Nobody waits for it: a cell without a leader does not answer, and home may come back meanwhile. */
  async function open({ name, isConnected, openView }: ConfigCell): Promise<void> {
    try {
      const view = await openView();
      if (signal.aborted || awaySince === undefined) await view[Symbol.asyncDispose]();
      else await use({ name, isConnected, view });
    } catch (error) {
      notFollowed(error);
    }
  }

  function notFollowed(error: unknown): void {
    log.warn({ error: String(error) }, 'config.not_followed');
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
      sourceByKeyHash: (hash) => used.view.sourceByKeyHash(hash),
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
