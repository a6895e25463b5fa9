/** Reads the configuration of a workspace from the control API. */
import type { Definition, Destination, Source } from '@millrace/contract/control';
import type { Control } from '../api/control.ts';
import { Failure } from '../output/failures.ts';
import { inline } from '../output/print.ts';
import { Refusal } from '../api/problems.ts';
import { toConfig } from './definitions.ts';
import type { CurrentDefinition, CurrentDestination, CurrentSource, CurrentWorkspace } from './model.ts';

type CatalogItem = { name: string; settingsSchema: object };
type SourceEvent = { name: string; blocked: boolean };

export async function readWorkspace(control: Control): Promise<CurrentWorkspace> {
  const { items: catalog } = await control.ask<{ items: CatalogItem[] }>('GET', '/catalog');
  const destinations = await Array.fromAsync(control.list<Destination>('/destinations'));
  const sources = new Map<string, CurrentSource>();
  for await (const source of control.list<Source>('/sources')) {
    // Definitions make it; a server of an older version knows no kinds.
    if (source.kind === 'computed') continue;
    mustBeNew(sources, source.name, 'sources');
    const behind = destinations.filter(({ sourceId }) => sourceId === source.id);
    sources.set(source.name, await readSource(control, source, behind));
  }
  const definitions = await readDefinitions(control, sources);
  const schemas = new Map(catalog.map(({ name, settingsSchema }) => [name, settingsSchema]));
  return { sources, definitions, schemas };
}

async function readDefinitions(
  control: Control,
  sources: ReadonlyMap<string, CurrentSource>,
): Promise<Map<string, CurrentDefinition>> {
  const all = await Array.fromAsync(control.list<Definition>('/definitions')).catch((error: unknown) => {
    // A server of an older version has none.
    if (error instanceof Refusal && error.problem.code === 'not_found') return [];
    throw error;
  });
  const keys = new Map(all.map(({ id, key }) => [id, key]));
  const kept = all.filter(({ state }) => state !== 'deleting');
  return new Map(kept.map((each) => [each.key, { id: each.id, config: toConfig(each, sources, keys) }]));
}

async function readSource(control: Control, source: Source, behind: readonly Destination[]): Promise<CurrentSource> {
  const { id, enabled, rateLimitPerSecond, writeKeys } = source;
  const blocked: string[] = [];
  for await (const { name, blocked: isBlocked } of control.list<SourceEvent>(`/sources/${id}/events`)) {
    if (isBlocked) blocked.push(name);
  }
  const destinations = new Map<string, CurrentDestination>();
  for (const destination of behind) {
    mustBeNew(destinations, destination.name, `destinations of "${inline(source.name)}"`);
    destinations.set(destination.name, currentDestination(destination));
  }
  const labels = [...new Set(writeKeys.map(({ label }) => label))];
  const config = { enabled, rateLimitPerSecond, writeKeys: labels.toSorted(), blockedEvents: blocked.toSorted() };
  return { id, config, destinations };
}

function currentDestination({ id, catalog, enabled, paused, filters, settings }: Destination): CurrentDestination {
  return { id, config: { catalog, enabled, paused, filters, settings } };
}

/** Names are the keys of the file. */
function mustBeNew(known: ReadonlyMap<string, unknown>, name: string, of: string): void {
  if (!known.has(name)) return;
  throw new Failure(`Two ${of} are called "${inline(name)}", and a file tells them apart by their names.`, {
    exit: 'refused',
    todo: 'Rename one of them with millrace sources update or millrace destinations update.',
  });
}
