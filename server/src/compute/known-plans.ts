/**
 * The definitions as this process knows them, and the plan of each workspace. Every transaction of a reader compares the number of the last
 * change with PostgreSQL's, and reads what has changed since, so that no event is folded by definitions that are gone.
 */
import type { Definition } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from './fold/compile-plan.ts';
import type { StoredMeasure } from './fold/measure-need.ts';
import type { Plan } from './fold/plan.ts';
import type { DefinitionNumber, FoldTx, StoredDefinition, StoredVersion } from './profiles/profile-store.ts';

export type KnownPlans = {
  /** Of the newest change that they know. */
  version(): number;
  /** Resolves when the plans are at least as new as the transaction. */
  refresh(tx: FoldTx): Promise<void>;
  /** Reads everything again at the next refresh: a profile has seen newer definitions than these. */
  forget(): void;
  /** Undefined for a workspace without definitions. */
  planOf(workspaceId: string): Plan | undefined;
  workspaces(): Iterable<string>;
  /** Versions that readers have to begin to fold. */
  unfinished(): VersionName[];
};

export type VersionName = { definition: DefinitionNumber; version: number };

export function openKnownPlans(): KnownPlans {
  const definitions = new Map<DefinitionNumber, StoredDefinition>();
  const plans = new Map<string, Plan>();
  let known = 0;

  function compile(workspaceId: string): void {
    const all = [...definitions.values()].filter((each) => each.workspaceId === workspaceId);
    const inUse = all.flatMap(inPlan);
    const version = Math.max(0, ...all.map(({ changed }) => changed));
    if (inUse.length === 0) plans.delete(workspaceId);
    else plans.set(workspaceId, compilePlan(inUse, version));
  }

  return {
    version: () => known,
    async refresh(tx) {
      if (tx.definitionsVersion <= known) return;
      const { version, definitions: changed } = await tx.definitions(known);
      for (const each of changed) definitions.set(each.number, each);
      for (const workspaceId of new Set(changed.map((each) => each.workspaceId))) compile(workspaceId);
      known = Math.max(known, version);
    },
    forget() {
      known = 0;
    },
    planOf: (workspaceId) => plans.get(workspaceId),
    workspaces: () => plans.keys(),
    unfinished: () =>
      [...definitions.values()].flatMap(({ number, versions }) =>
        versions
          .filter(({ state }) => state === 'preparing' || state === 'computing')
          .map(({ version }) => ({ definition: number, version })),
      ),
  };
}

function inPlan(stored: StoredDefinition): DefinitionInPlan[] {
  const { number, id, changed, state } = stored;
  if (state === 'deleted') return [];
  return stored.versions.map((each) => ({
    number,
    id,
    changed,
    version: each.version,
    definition: each.body as Definition,
    measures: each.measures as StoredMeasure[],
    use: useOf(each, state),
  }));
}

function useOf({ state }: StoredVersion, definition: StoredDefinition['state']): DefinitionInPlan['use'] {
  if (definition === 'deleting') return 'leaving';
  return state === 'live' ? 'evaluated' : 'folded';
}
