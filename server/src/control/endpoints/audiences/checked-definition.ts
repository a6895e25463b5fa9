/** The checks of a definition before it is stored. */
import {
  audiencesIn,
  checkDefinition,
  type Definition,
  type DefinitionProblem,
  referenceProblems,
} from '@millrace/contract/audiences';
import type { DefinitionChange } from '@millrace/contract/control';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';
import { destinationNames } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import { sourceOwners } from '../../../store/sources.ts';
import { ApiProblem } from '../../problems/problems.ts';

/** The mistakes of a body that should be a definition. */
export function definitionProblems(value: unknown, at = ''): DefinitionProblem[] {
  const checked = checkDefinition(value);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => ({ path: at + path, message }));
}

/** The definition that a version has: its live body, or the first while there is none. */
export function definitionOf({ name, destinations, versions }: KnownDefinition): Definition {
  const shown = versions.find(({ state }) => state === 'live') ?? versions[0];
  return { ...(shown?.body as Definition), name, destinations };
}

/** Null takes a field away. */
export function changedDefinition(before: Definition, change: DefinitionChange): Definition {
  const fields = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  const after: unknown = Object.fromEntries(fields);
  const problems = definitionProblems(after);
  if (problems.length > 0) throw new ApiProblem('invalid_request', problems);
  return after as Definition;
}

/** Everything that a version stores: a change of it is computed anew. Name and destinations stand in the row of the definition. */
export function bodyOf(definition: Definition): Omit<Definition, 'name' | 'destinations'> {
  const { name: _name, destinations: _destinations, ...body } = definition;
  return body;
}

export type References = {
  workspaceId: string;
  definition: Definition;
  /** Undefined for a new definition. Ids that it named before are not checked again: they may be deleted meanwhile. */
  before: KnownDefinition | undefined;
  known: readonly KnownDefinition[];
};

/** Refuses names of sources, destinations and audiences that the workspace does not have. */
export async function mustRefer(tx: Tx, { workspaceId, definition, before, known }: References): Promise<void> {
  const earlier = before && definitionOf(before);
  const problems = [
    ...(await sourceProblems(tx, { workspaceId, ids: definition.sources, earlier: earlier?.sources })),
    ...(await destinationProblems(tx, { workspaceId, ids: definition.destinations, earlier: earlier?.destinations })),
    ...audienceProblems(definition, before, known),
  ];
  if (problems.length > 0) throw new ApiProblem('invalid_request', problems);
}

type Named = { workspaceId: string; ids: readonly string[] | undefined; earlier: readonly string[] | undefined };

async function sourceProblems(tx: Tx, { ids = [], earlier = [] }: Named): Promise<DefinitionProblem[]> {
  const kinds = new Map((await sourceOwners(tx, ids)).map(({ id, kind }) => [id, kind]));
  return ids.flatMap((id, place) => {
    const path = `/sources/${place}`;
    if (earlier.includes(id) || kinds.get(id) === 'collected') return [];
    if (kinds.get(id) === undefined) return [{ path, message: 'is not a source of this workspace' }];
    return [{ path, message: 'is the source of audiences and computed traits: its own calls are not counted' }];
  });
}

async function destinationProblems(
  tx: Tx,
  { workspaceId, ids = [], earlier = [] }: Named,
): Promise<DefinitionProblem[]> {
  const names = await destinationNames(tx, workspaceId, [...ids]);
  return ids.flatMap((id, place) =>
    earlier.includes(id) || names.has(id)
      ? []
      : [{ path: `/destinations/${place}`, message: 'is not a destination of this workspace' }],
  );
}

/** Every version counts: one that is being computed replaces the live one in a moment. */
function audienceProblems(
  definition: Definition,
  before: KnownDefinition | undefined,
  known: readonly KnownDefinition[],
): DefinitionProblem[] {
  const others = new Map(
    known.filter(({ state }) => state !== 'deleting').map((each) => [each.id, everyVersionOf(each)]),
  );
  return referenceProblems(definition, before?.id, others);
}

/** One definition that asks for every audience that one of its versions asks for. */
function everyVersionOf(each: KnownDefinition): Definition {
  const shown = definitionOf(each);
  if (shown.kind === 'trait') return shown;
  const asked = each.versions.flatMap(({ body }) => audiencesOf(body as Definition));
  return asked.length === 0 ? shown : { ...shown, when: { any: asked.map((audience) => ({ audience })) } };
}

export function audiencesOf(definition: Definition): string[] {
  return definition.kind === 'audience' ? audiencesIn(definition.when) : [];
}

/** The audiences that a version of another definition asks for it. */
export function askersOf(id: string, known: readonly KnownDefinition[]): KnownDefinition[] {
  return known.filter(
    (each) =>
      each.id !== id &&
      each.state !== 'deleting' &&
      each.versions.some(({ body }) => audiencesOf(body as Definition).includes(id)),
  );
}
