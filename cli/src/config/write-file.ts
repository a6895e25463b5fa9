/** The configuration of a workspace as YAML: stable order, no ids, no secrets. */
import { visible } from '@millrace/console/format/texts';
import { stringify } from 'yaml';
import type { CurrentDefinition, CurrentDestination, CurrentSource, CurrentWorkspace } from './model.ts';
import { DEFAULT_CATALOG, FILE_VERSION } from './model.ts';
import { escapeReferences, referenceFor, withSecrets } from './secrets.ts';

/** Only what differs from the default, so that the file reads as a person would write it. */
export function toDocument({ sources, definitions, schemas }: CurrentWorkspace): object {
  const named = byName(sources).map(([name, source]) => [name, sourceDocument(name, source, schemas)]);
  const defined = byName(definitions).map(([key, each]) => [key, definitionDocument(each)]);
  return {
    version: FILE_VERSION,
    sources: Object.fromEntries(named) as object,
    ...(defined.length === 0 ? {} : { definitions: Object.fromEntries(defined) as object }),
  };
}

function definitionDocument({ config: { definition, destinations } }: CurrentDefinition) {
  return { ...definition, ...(destinations.length === 0 ? {} : { destinations }) };
}

export function toYaml(workspace: CurrentWorkspace): string {
  const head = '# Configuration of a Millrace workspace: millrace export prints it, millrace apply carries it out.\n';
  return `${head}${harmless(toDocument(workspace))}`;
}

/** Names may hold characters that move a cursor: then all texts are quoted, and YAML's own escapes stand for them. */
function harmless(document: object): string {
  const text = stringify(document, { lineWidth: 0 });
  if (visible(text) === text) return text;
  return visible(
    stringify(document, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' }),
  );
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
  const texts = escapeReferences(settings) as typeof settings;
  const shown = withSecrets(schemas.get(catalog) ?? {}, texts, (path) => referenceFor(source, name, path));
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
