/**
 * The limits of workspaces as control keeps them: the defaults of the settings, and the numbers that the operator gave single
 * workspaces. Decisions in a transaction read these numbers in it; the rates and the tails of a process use a copy that is read every
 * two seconds.
 */
import type { LimitName } from '@millrace/contract/control';
import { limitSentence, type LimitValues, type OwnLimits } from '../../limits/limits.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { countOne } from '../../store/limit-use.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { ANY_OWN_LIMITS, readOwnLimits } from '../../store/workspace-limits.ts';
import { ApiProblem, type ProblemCode } from '../problems/problems.ts';
import { every } from '../../pause.ts';

export type WorkspaceLimits = Disposable & {
  readonly defaults: LimitValues;
  /** As of two seconds ago. */
  of(workspaceId: string): LimitValues;
  /** The numbers that workspaces have of their own, as of two seconds ago. */
  own(): ReadonlyMap<string, OwnLimits>;
  /** As this transaction sees it. */
  read(tx: Tx, workspaceId: string, name: LimitName): Promise<number | undefined>;
  /** Throws a problem when the workspace has more of it than it may. Called after the change, and after its audit entry. */
  mustFit(tx: Tx, workspaceId: string, name: 'sources' | 'destinations' | 'jobs'): Promise<void>;
  /** Throws a problem if `used` is more than the workspace may have. */
  mustHold(tx: Tx, workspaceId: string, name: LimitName, used: number): Promise<void>;
  /** The problem for a request over a limit; counts it. */
  refusal(name: LimitName, most: number, code?: ProblemCode): ApiProblem;
  refresh(): Promise<void>;
};

export type LimitsNeeds = { store: Store; defaults: LimitValues; metrics?: Metrics | undefined; log: Logger };

const REFRESH_MS = 2_000;
const NONE: ReadonlyMap<string, OwnLimits> = new Map();

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openWorkspaceLimits({ store, defaults, metrics, log }: LimitsNeeds): WorkspaceLimits {
  let own = NONE;
  const refused = metrics?.counters('millrace_limit_refusals_total');
  const refresh = async (): Promise<void> => {
    try {
      own = (await store.holds(ANY_OWN_LIMITS)) ? await store.asSystem((tx) => readOwnLimits(tx)) : NONE;
    } catch (error) {
      // The last numbers hold on while the database is away.
      log.debug({ error: String(error) }, 'limits.not_refreshed');
    }
  };
  const read = async (tx: Tx, workspaceId: string, name: LimitName) =>
    (await readOwnLimits(tx, workspaceId)).get(workspaceId)?.[name] ?? defaults[name];
  const refusal = (name: LimitName, most: number, code: ProblemCode = 'limit_reached') => {
    refused?.(name).add();
    return new ApiProblem(code, [{ path: '/', message: limitSentence(name, most) }]);
  };
  const mustHold: WorkspaceLimits['mustHold'] = async (tx, workspaceId, name, used) => {
    const most = await read(tx, workspaceId, name);
    if (most !== undefined && used > most) throw refusal(name, most);
  };
  void refresh();
  const timer = every(REFRESH_MS, () => void refresh());
  return {
    defaults,
    of: (workspaceId) => ({ ...defaults, ...own.get(workspaceId) }),
    own: () => own,
    read,
    // The audit log serializes the changes of a workspace: counted after it, each change sees those before it.
    mustFit: async (tx, workspaceId, name) => mustHold(tx, workspaceId, name, await countOne(tx, name, workspaceId)),
    mustHold,
    refusal,
    refresh,
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
