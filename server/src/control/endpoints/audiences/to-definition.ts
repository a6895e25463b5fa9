/** Definitions as the API shows them: a new field of the API is added here and to the contract. */
import { type Definition, settleSecondsOf } from '@millrace/contract/audiences';
import type { Definition as ShownDefinition } from '@millrace/contract/control';
import { type KnownDefinition, knownDefinitions } from '../../../store/definitions/definition-views.ts';
import { firstSyncsWaiting, readProgress } from '../../../store/definitions/lifecycle.ts';
import { membershipSizes } from '../../../store/compute/sizes.ts';
import { destinationNames } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import { sourceNames } from '../../../store/sources.ts';
import { audiencesOf, definitionOf } from './checked-definition.ts';
import { completenessOf } from './completeness.ts';

/** In the order of the rows. */
export async function toDefinitions(
  tx: Tx,
  workspaceId: string,
  rows: readonly KnownDefinition[],
): Promise<ShownDefinition[]> {
  const definitions = rows.map(definitionOf);
  const asksOthers = definitions.some((each) => audiencesOf(each).length > 0);
  const known = asksOthers ? await knownDefinitions(tx, workspaceId) : rows;
  const sizes = await membershipSizes(tx, workspaceId);
  const progress = await readProgress(tx, workspaceId);
  const waiting = await firstSyncsWaiting(tx, workspaceId);
  const sources = await sourceNames(tx, workspaceId, unique(definitions.map((each) => each.sources)));
  const destinations = await destinationNames(tx, workspaceId, unique(definitions.map((each) => each.destinations)));
  return rows.map((row, place) => {
    const definition = definitions[place] ?? definitionOf(row);
    const { number } = row;
    return {
      ...shownBody(definition),
      ...shownRow(row),
      ...shownCompleteness(completenessOf(row, known)),
      ...shownVersions(row, progress.get(number)),
      size: Math.max(0, sizes.get(number) ?? 0),
      firstSyncWaiting: waiting.get(number) ?? 0,
      missing: {
        sources: (definition.sources ?? []).filter((id) => !sources.has(id)),
        destinations: row.destinations.filter((id) => !destinations.has(id)),
      },
    };
  });
}

function unique(lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((ids) => ids ?? []))];
}

function shownBody(definition: Definition) {
  const { includeAnonymous = false } = definition;
  return { ...definition, includeAnonymous, settleSeconds: settleSecondsOf(definition) };
}

function shownRow(row: KnownDefinition) {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    name: row.name,
    state: row.state as ShownDefinition['state'],
    destinations: row.destinations,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function shownCompleteness({ completeFrom, incompleteSince }: ReturnType<typeof completenessOf>) {
  return {
    completeFrom: completeFrom?.toISOString() ?? null,
    incompleteSince: incompleteSince?.toISOString() ?? null,
  };
}

type Progress = { version: number; done: number; total: number | null };

/** The version that is shown, and the one that is to replace it. */
function shownVersions({ versions }: KnownDefinition, progress: Progress | undefined) {
  const live = versions.find(({ state }) => state === 'live');
  const shown = live ?? versions[0];
  const next = versions.find((each) => each !== shown);
  const progressOf = (version: number | undefined) =>
    progress === undefined || progress.version !== version
      ? null
      : { done: progress.done, total: progress.total === 0 ? null : progress.total };
  return {
    version: shown?.version ?? 0,
    progress: progressOf(shown?.version),
    edit: next === undefined ? null : { ...editOf(next), progress: progressOf(next.version) },
  };
}

function editOf({ version, state }: KnownDefinition['versions'][number]) {
  return { version, state: state === 'computing' ? ('computing' as const) : ('preparing' as const) };
}
