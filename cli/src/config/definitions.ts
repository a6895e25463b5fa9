/** Audiences and computed traits between the ids of a server and the names of a file. Pure. */
import type { Condition, Definition } from '@millrace/contract/audiences';
import { settleSecondsOf } from '@millrace/contract/audiences';
import type { Definition as ShownDefinition } from '@millrace/contract/control';
import type { CurrentSource, DefinitionConfig, DestinationName } from './model.ts';

/** The condition with other names for the audiences that it asks for. */
export function renameAudiences(condition: Condition, rename: (audience: string) => string): Condition {
  if ('all' in condition) return { all: condition.all.map((each) => renameAudiences(each, rename)) };
  if ('any' in condition) return { any: condition.any.map((each) => renameAudiences(each, rename)) };
  if ('not' in condition) return { not: renameAudiences(condition.not, rename) };
  return 'audience' in condition ? { audience: rename(condition.audience) } : condition;
}

type Sources = ReadonlyMap<string, CurrentSource>;

/** As a file has it: without ids, and without fields that have their default. Deleted sources and destinations are left out. */
export function toConfig(
  shown: ShownDefinition,
  sources: Sources,
  keys: ReadonlyMap<string, string>,
): DefinitionConfig {
  const { kind, name, when, compute, field, type, event, where, window, between } = shown;
  const sourceNames = new Map([...sources].map(([each, { id }]) => [id, each]));
  const chosen = shown.sources?.flatMap((id) => sourceNames.get(id) ?? []).toSorted();
  const rule = when === undefined ? undefined : renameAudiences(when, (id) => keys.get(id) ?? id);
  const body = { kind, name, when: rule, compute, field, type, event, where, window, between, sources: chosen };
  const definition = withoutGaps({
    ...body,
    includeAnonymous: shown.includeAnonymous ? true : undefined,
  }) as unknown as Definition;
  if (settleSecondsOf(definition) !== shown.settleSeconds) definition.settleSeconds = shown.settleSeconds;
  return { definition, destinations: destinationNames(shown.destinations, sources) };
}

function withoutGaps(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function destinationNames(ids: readonly string[], sources: Sources): DestinationName[] {
  const all = [...sources].flatMap(([source, { destinations }]) =>
    [...destinations].map(([destination, { id }]) => ({ id, name: { source, destination } })),
  );
  return all.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
}

export type Ids = {
  source(name: string): string | undefined;
  destination(name: DestinationName): string | undefined;
  definition(key: string): string | undefined;
};

/** As the API takes it. An unknown name stays as it is, so that control says what is wrong with it. */
export function toBody({ definition, destinations }: DefinitionConfig, ids: Ids): Definition {
  const { sources } = definition;
  return {
    ...definition,
    ...(definition.kind === 'audience' && {
      when: renameAudiences(definition.when, (key) => ids.definition(key) ?? key),
    }),
    ...(sources && { sources: sources.map((name) => ids.source(name) ?? name) }),
    destinations: destinations.map((name) => ids.destination(name) ?? `${name.source}/${name.destination}`),
  };
}
