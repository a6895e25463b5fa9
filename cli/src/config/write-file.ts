/** The configuration of a workspace as YAML: stable order, no ids, no secrets. */
import { stringify } from 'yaml';
import type { CurrentDestination, CurrentSource, CurrentWorkspace } from './model.ts';
import { DEFAULT_CATALOG, FILE_VERSION } from './model.ts';
import { referenceFor, withSecrets } from './secrets.ts';

/** Only what differs from the default, so that the file reads as a person would write it. */
export function toDocument({ sources, schemas }: CurrentWorkspace): object {
  const named = byName(sources).map(([name, source]) => [name, sourceDocument(name, source, schemas)]);
  return { version: FILE_VERSION, sources: Object.fromEntries(named) as object };
}

export function toYaml(workspace: CurrentWorkspace): string {
  const head = '# Configuration of a Millrace workspace: millrace export prints it, millrace apply carries it out.\n';
  return `${head}${stringify(toDocument(workspace), { lineWidth: 0 })}`;
}

function sourceDocument(name: string, { config, destinations }: CurrentSource, schemas: CurrentWorkspace['schemas']) {
  const { enabled, rateLimitPerSecond, writeKeys, blockedEvents } = config;
  const behind = byName(destinations).map(([key, each]) => [key, destinationDocument(name, key, each, schemas)]);
  return {
    ...(enabled ? {} : { enabled }),
    ...(rateLimitPerSecond === null ? {} : { rateLimitPerSecond }),
    ...(writeKeys.length === 0 ? {} : { writeKeys }),
    ...(blockedEvents.length === 0 ? {} : { blockedEvents }),
    ...(behind.length === 0 ? {} : { destinations: Object.fromEntries(behind) as object }),
  };
}

function destinationDocument(
  source: string,
  name: string,
  { config }: CurrentDestination,
  schemas: CurrentWorkspace['schemas'],
) {
  const { catalog, enabled, paused, filters, settings } = config;
  const shown = withSecrets(schemas.get(catalog) ?? {}, settings, (path) => referenceFor(source, name, path));
  return {
    ...(catalog === DEFAULT_CATALOG ? {} : { catalog }),
    ...(enabled ? {} : { enabled }),
    ...(paused ? { paused } : {}),
    ...(filters.length === 0 ? {} : { filters }),
    settings: shown,
  };
}

function byName<Item>(items: ReadonlyMap<string, Item>): [string, Item][] {
  return [...items].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
