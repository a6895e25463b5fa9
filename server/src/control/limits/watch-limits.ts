import { LIMIT_NAMES, type LimitName } from '@millrace/contract/control';
import { NEAR, stateOf } from '../../limits/limits.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { readUse, type Use, type UseNeeds } from './read-use.ts';
import type { WorkspaceLimits } from './workspace-limits.ts';
import { every } from '../../pause.ts';

export type WatchNeeds = UseNeeds & { limits: WorkspaceLimits; metrics?: Metrics | undefined; log: Logger };

/** Counting 100,000 destinations takes a quarter of a second. */
const LOOK_MS = 30_000;

/** Counts the workspaces that are near a limit or have reached it, for the metrics. A label names the limit, never a workspace. */
export function watchLimits(needs: WatchNeeds): Disposable & { look(): Promise<void> } {
  const { limits, metrics, log } = needs;
  let uses: ReadonlyMap<string, Use> = new Map();
  const count = (name: LimitName, states: readonly string[]) =>
    uses.entries().reduce((sum, [workspaceId, use]) => {
      return sum + Number(states.includes(stateOf(use[name] ?? 0, limits.of(workspaceId)[name])));
    }, 0);
  metrics?.gauges('millrace_limits_near', () => LIMIT_NAMES.map((name) => [name, count(name, ['near', 'reached'])]));
  metrics?.gauges('millrace_limits_reached', () => LIMIT_NAMES.map((name) => [name, count(name, ['reached'])]));
  const look = async (): Promise<void> => {
    try {
      uses = await readUse(needs, { leastHosts: leastHosts(limits) * NEAR });
    } catch (error) {
      log.debug({ error: String(error) }, 'limits.not_counted');
    }
  };
  void look();
  const timer = every(LOOK_MS, () => void look());
  return { look, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/** The smallest limit of hosts that any workspace has. */
export function leastHosts({ defaults, own }: Pick<WorkspaceLimits, 'defaults' | 'own'>): number {
  const hosts = [defaults, ...own().values()].flatMap(({ targetHosts }) => targetHosts ?? []);
  return Math.min(Number.MAX_SAFE_INTEGER, ...hosts);
}
