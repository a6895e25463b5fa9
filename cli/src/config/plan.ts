/** Compares a file with a workspace: the changes that make the workspace as the file says. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { ruleText } from '@millrace/contract';
import type {
  CurrentDestination,
  CurrentSource,
  CurrentWorkspace,
  DestinationConfig,
  SourceConfig,
  WorkspaceConfig,
} from './model.ts';
import { type DefinitionChange, extraDefinitions, planDefinitions } from './plan-definitions.ts';
import { compareSettings, type FieldChange, type SettingsPlan, textOf } from './plan-settings.ts';

export type Change =
  | { action: 'create'; kind: 'source'; source: string; fields: FieldChange[]; wanted: SourceConfig }
  | {
      action: 'update';
      kind: 'source';
      source: string;
      fields: FieldChange[];
      wanted: SourceConfig;
      current: CurrentSource;
    }
  | { action: 'delete'; kind: 'source'; source: string; fields: FieldChange[]; current: CurrentSource }
  | (DestinationChange & { source: string; destination: string; fields: FieldChange[] })
  | DefinitionChange;

export type DestinationChange =
  | { action: 'create'; kind: 'destination'; wanted: DestinationConfig; settings: SettingsPlan }
  | {
      action: 'update';
      kind: 'destination';
      wanted: DestinationConfig;
      settings: SettingsPlan;
      current: CurrentDestination;
    }
  | { action: 'delete'; kind: 'destination'; current: CurrentDestination };

export type Plan = {
  changes: Change[];
  /** On the server and not in the file; they stay, unless the plan prunes. */
  leftAlone: string[];
};

export type PlanOptions = { prune: boolean; setSecrets: boolean };

export function planChanges(wanted: WorkspaceConfig, current: CurrentWorkspace, options: PlanOptions): Plan {
  const changes = Object.entries(wanted.sources).flatMap(([name, source]) => {
    const known = current.sources.get(name);
    return [...planSource(name, source, known), ...planDestinations(name, source, known, { current, options })];
  });
  const { definitions } = wanted;
  const defined = definitions === undefined ? [] : planDefinitions(definitions, current.definitions);
  const gone = definitions === undefined ? [] : extraDefinitions(definitions, current.definitions);
  // Definitions name sources and destinations, so they come after them and go before them.
  const extra = [...gone, ...extras(wanted, current)];
  if (!options.prune) return { changes: [...changes, ...defined], leftAlone: extra.map(tellExtra) };
  return { changes: [...changes, ...defined, ...extra], leftAlone: [] };
}

function planSource(source: string, wanted: SourceConfig, current: CurrentSource | undefined): Change[] {
  const defaults = { enabled: true, rateLimitPerSecond: null, writeKeys: [], blockedEvents: [] };
  const before = current?.config ?? defaults;
  const missing = wanted.writeKeys.filter((label) => !before.writeKeys.includes(label));
  const fields = [
    ...field('enabled', before.enabled, wanted.enabled),
    ...field('rateLimitPerSecond', before.rateLimitPerSecond, wanted.rateLimitPerSecond),
    ...missing.map((label) => ({ field: 'writeKeys', from: null, to: label })),
    ...listChanges('blockedEvents', before.blockedEvents, wanted.blockedEvents),
  ];
  if (current === undefined) return [{ action: 'create', kind: 'source', source, fields, wanted }];
  return fields.length === 0 ? [] : [{ action: 'update', kind: 'source', source, fields, wanted, current }];
}

type Context = { current: CurrentWorkspace; options: PlanOptions };

function planDestinations(
  source: string,
  { destinations }: SourceConfig,
  known: CurrentSource | undefined,
  { current, options }: Context,
): Change[] {
  return Object.entries(destinations).flatMap(([destination, wanted]): Change[] => {
    const found = known?.destinations.get(destination);
    const before = found?.config.catalog === wanted.catalog ? found : undefined;
    const settings = compareSettings(
      wanted,
      before?.config,
      current.schemas.get(wanted.catalog) ?? {},
      options.setSecrets,
    );
    const names = { source, destination };
    const fields = [
      ...flagChanges(wanted, before?.config),
      ...filterChanges(wanted, before?.config),
      ...settings.fields,
    ];
    if (found === undefined) return [{ action: 'create', kind: 'destination', ...names, fields, wanted, settings }];
    if (before === undefined) {
      // A destination cannot become one of another kind: the old one goes first.
      const gone: Change = { action: 'delete', kind: 'destination', ...names, fields: [], current: found };
      return [gone, { action: 'create', kind: 'destination', ...names, fields, wanted, settings }];
    }
    return fields.length === 0
      ? []
      : [{ action: 'update', kind: 'destination', ...names, fields, wanted, settings, current: before }];
  });
}

function flagChanges(wanted: DestinationConfig, before: DestinationConfig | undefined): FieldChange[] {
  if (before === undefined)
    return [...field('enabled', true, wanted.enabled), ...field('paused', false, wanted.paused)];
  return [...field('enabled', before.enabled, wanted.enabled), ...field('paused', before.paused, wanted.paused)];
}

function filterChanges(wanted: DestinationConfig, before: DestinationConfig | undefined): FieldChange[] {
  const from = before?.filters ?? [];
  if (isDeepStrictEqual(from, wanted.filters)) return [];
  const changes = listChanges('filters', from.map(ruleText), wanted.filters.map(ruleText));
  // Rules about ids have the same words whatever the id is, and the order may be all that differs.
  return changes.length > 0
    ? changes
    : [{ field: 'filters', from: 'other values', to: `${wanted.filters.length} rules` }];
}

function field(name: string, from: unknown, to: unknown): FieldChange[] {
  return from === to ? [] : [{ field: name, from: textOf(from), to: textOf(to) }];
}

function listChanges(name: string, before: readonly string[], wanted: readonly string[]): FieldChange[] {
  const added = wanted.filter((each) => !before.includes(each)).map((to) => ({ field: name, from: null, to }));
  const gone = before.filter((each) => !wanted.includes(each)).map((from) => ({ field: name, from, to: null }));
  return [...gone, ...added];
}

function extras(wanted: WorkspaceConfig, { sources }: CurrentWorkspace): Change[] {
  return [...sources].flatMap(([source, current]): Change[] => {
    // A source may be called as something that every object has, such as `constructor`.
    const kept = Object.hasOwn(wanted.sources, source) ? wanted.sources[source] : undefined;
    if (kept === undefined) return [{ action: 'delete', kind: 'source', source, fields: [], current }];
    return [...current.destinations]
      .filter(([name]) => !Object.hasOwn(kept.destinations, name))
      .map(([destination, each]) => ({
        action: 'delete',
        kind: 'destination',
        source,
        destination,
        fields: [],
        current: each,
      }));
  });
}

export function tellExtra(change: Change): string {
  if (change.kind === 'definition') return `audience or computed trait "${change.definition}"`;
  return change.kind === 'source'
    ? `source "${change.source}"`
    : `destination "${change.destination}" of "${change.source}"`;
}
