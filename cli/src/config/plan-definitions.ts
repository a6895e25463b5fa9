/** Compares the audiences and computed traits of a file with those of a workspace. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { audiencesIn } from '@millrace/contract/audiences';
import type { CurrentDefinition, DefinitionConfig } from './model.ts';
import { type FieldChange, textOf } from './plan-settings.ts';

export type DefinitionChange = { kind: 'definition'; definition: string; fields: FieldChange[] } & (
  | { action: 'create'; wanted: DefinitionConfig }
  | { action: 'update'; wanted: DefinitionConfig; current: CurrentDefinition }
  | { action: 'delete'; current: CurrentDefinition }
);

type Wanted = Readonly<Record<string, DefinitionConfig>>;
type Current = ReadonlyMap<string, CurrentDefinition>;

/** An audience comes after those that it asks for. */
export function planDefinitions(wanted: Wanted, current: Current): DefinitionChange[] {
  return inOrder(wanted).flatMap(([definition, config]): DefinitionChange[] => {
    const known = current.get(definition);
    const fields = fieldChanges(known?.config, config);
    const change = { kind: 'definition' as const, definition, fields, wanted: config };
    if (known === undefined) return [{ ...change, action: 'create' }];
    return fields.length === 0 ? [] : [{ ...change, action: 'update', current: known }];
  });
}

/** An audience goes before those that it asks for. */
export function extraDefinitions(wanted: Wanted, current: Current): DefinitionChange[] {
  const all = Object.fromEntries([...current].map(([key, { config }]) => [key, config]));
  return inOrder(all)
    .toReversed()
    .flatMap(([definition]): DefinitionChange[] => {
      const known = current.get(definition);
      if (known === undefined || Object.hasOwn(wanted, definition)) return [];
      return [{ action: 'delete', kind: 'definition', definition, fields: [], current: known }];
    });
}

function inOrder(definitions: Wanted): [string, DefinitionConfig][] {
  const ordered = new Map<string, DefinitionConfig>();
  const visited = new Set<string>();
  const visit = (key: string): void => {
    const config = Object.hasOwn(definitions, key) ? definitions[key] : undefined;
    if (config === undefined || visited.has(key)) return;
    visited.add(key);
    if (config.definition.kind === 'audience') audiencesIn(config.definition.when).forEach(visit);
    ordered.set(key, config);
  };
  for (const key of Object.keys(definitions).toSorted()) visit(key);
  return [...ordered];
}

function fieldChanges(before: DefinitionConfig | undefined, wanted: DefinitionConfig): FieldChange[] {
  const [from, to] = [entriesOf(before), entriesOf(wanted)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return names
    .filter((name) => !isDeepStrictEqual(from[name], to[name]))
    .map((field) => ({ field, from: textOf(from[field]), to: textOf(to[field]) }));
}

function entriesOf(config: DefinitionConfig | undefined): Record<string, unknown> {
  if (config === undefined) return {};
  const { definition, destinations } = config;
  const names = destinations.map(({ source, destination }) => `${source}/${destination}`).toSorted();
  return { ...definition, ...(names.length === 0 ? {} : { destinations: names.join(', ') }) };
}
