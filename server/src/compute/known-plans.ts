/**
 * The definitions as this process knows them, and the plan of each workspace. Every transaction of a reader compares the number of the last
 * change with PostgreSQL's, and reads what has changed since, so that no event is folded by definitions that are gone.
 */
import type { Definition } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from './fold/compile-plan.ts';
import type { StoredMeasure } from './fold/measure-need.ts';
import type { Plan } from './fold/plan.ts';
import type {
  DefinitionNumber,
  FoldTx,
  StoredDefinition,
  StoredVersion,
  VersionName,
} from './profiles/profile-store.ts';

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
  /** Versions that readers have to begin to fold, and workspaces whose profiles they have to begin. */
  unfinished(): { versions: VersionName[]; workspaces: string[] };
};

export function openKnownPlans(): KnownPlans {
  const definitions = new Map<DefinitionNumber, StoredDefinition>();
  const plans = new Map<string, Plan>();
  let known = 0;

  function compile(workspaceId: string): void {
    const all = [...definitions.values()].filter((each) => each.workspaceId === workspaceId);
    const version = Math.max(0, ...all.map(({ changed }) => changed));
    const kept = all.filter(({ state, workspaceState }) => state !== 'deleted' && workspaceState !== 'clearing');
    // Until the past of the workspace is folded its plan has no definitions: ids, traits and tiles are kept, and nothing else.
    const inUse = kept.filter(({ workspaceState }) => workspaceState === 'ready').flatMap(inPlan);
    if (kept.length === 0) plans.delete(workspaceId);
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
    unfinished: () => unfinishedOf([...definitions.values()].filter(({ state }) => state !== 'deleted')),
  };
}

function unfinishedOf(all: readonly StoredDefinition[]): ReturnType<KnownPlans['unfinished']> {
  const reading = all.filter(({ workspaceState }) => workspaceState === 'reading');
  const ready = all.filter(({ workspaceState }) => workspaceState === 'ready');
  return {
    versions: ready.flatMap(({ number: definition, versions }) =>
      versions
        .filter(({ state }) => state === 'preparing' || state === 'computing')
        .map(({ version }) => ({ definition, version })),
    ),
    workspaces: [...new Set(reading.map(({ workspaceId }) => workspaceId))],
  };
}

function inPlan(stored: StoredDefinition): DefinitionInPlan[] {
  const { number, id, revised: changed, state, membersGo, isTold } = stored;
  // Its members are told nothing, so it is not evaluated any more.
  if (state === 'deleting' && membersGo === 'leave') return [];
  return stored.versions.map((each) => ({
    number,
    id,
    changed,
    version: each.version,
    definition: each.body as Definition,
    measures: each.measures as StoredMeasure[],
    use: useOf(each, state),
    isNew: state !== 'live',
    isTold,
  }));
}

function useOf({ state }: StoredVersion, definition: StoredDefinition['state']): DefinitionInPlan['use'] {
  if (definition === 'deleting') return 'leaving';
  return state === 'live' ? 'evaluated' : 'folded';
}
