/** A file of `millrace export`, read strictly: an unknown field is a mistake, and a secret in clear is refused. */
import { isObject } from '@millrace/server/walk-settings';
import type { FilterRule } from '@millrace/contract';
import { checkDefinition, definitionKey } from '@millrace/contract/audiences';
import { parse, YAMLParseError } from 'yaml';
import { Failure } from '../output/failures.ts';
import { inline } from '../output/print.ts';
import {
  DEFAULT_CATALOG,
  type DefinitionConfig,
  type DestinationConfig,
  type DestinationName,
  FILE_VERSION,
  type SourceConfig,
  type WorkspaceConfig,
} from './model.ts';
import { mustBeReference, resolveReferences, withSecrets } from './secrets.ts';

type Fields = Record<string, unknown>;
type Schemas = ReadonlyMap<string, object>;

export function readConfigFile(text: string, schemas: Schemas): WorkspaceConfig {
  const file = fields(parseYaml(text), 'The file', ['version', 'sources', 'definitions']);
  if (file['version'] !== FILE_VERSION) {
    throw mistake(`The file has version ${JSON.stringify(file['version'] ?? null)}`, `Write version: ${FILE_VERSION}.`);
  }
  const sources = Object.entries(fields(file['sources'] ?? {}, 'sources'));
  const read = Object.fromEntries(sources.map(([name, value]) => [name, readSource(name, value, schemas)]));
  if (file['definitions'] === undefined) return { sources: read };
  const definitions = Object.entries(fields(file['definitions'] ?? {}, 'definitions'));
  return {
    sources: read,
    definitions: Object.fromEntries(definitions.map(([key, value]) => [key, readDefinition(key, value)])),
  };
}

/** Sources, destinations and audiences stay names here; control says which of them do not exist. */
function readDefinition(key: string, value: unknown): DefinitionConfig {
  const place = `definitions.${key}`;
  if (definitionKey(key) !== key) throw mistake(`${inline(place)} is no key`, `Write ${definitionKey(key)}.`);
  const { destinations: names = [], ...rest } = fields(value, place);
  const checked = checkDefinition(rest);
  const [first] = checked.ok ? [] : checked.problems;
  if (first !== undefined)
    throw mistake(inline(`${place}${first.path.replaceAll('/', '.')} ${first.message}`), 'Mend it there.');
  if (!checked.ok || !Array.isArray(names)) throw mistake(`${place}.destinations is no list`, 'Write one an item.');
  return { definition: checked.value, destinations: names.map((each) => readDestinationName(each, place)) };
}

function readDestinationName(value: unknown, place: string): DestinationName {
  const { source, destination } = fields(value, `${place}.destinations`, ['source', 'destination']);
  if (typeof source === 'string' && typeof destination === 'string') return { source, destination };
  throw mistake(`${inline(place)}.destinations lacks a name`, 'Write source: web and destination: orders.');
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const what = error instanceof YAMLParseError ? error.message : String(error);
    throw mistake(
      `The file is not valid YAML: ${inline((what.split('\n')[0] ?? '').replace(/:$/, ''))}`,
      'Mend it there.',
    );
  }
}

function readSource(name: string, value: unknown, schemas: Schemas): SourceConfig {
  const place = `sources.${name}`;
  const known = ['enabled', 'rateLimitPerSecond', 'writeKeys', 'blockedEvents', 'destinations'];
  const source = fields(value ?? {}, place, known);
  const destinations = Object.entries(fields(source['destinations'] ?? {}, `${place}.destinations`));
  return {
    enabled: readBoolean(source['enabled'], `${place}.enabled`, true),
    rateLimitPerSecond: readNumber(source['rateLimitPerSecond'], `${place}.rateLimitPerSecond`),
    writeKeys: readTexts(source['writeKeys'], `${place}.writeKeys`),
    blockedEvents: readTexts(source['blockedEvents'], `${place}.blockedEvents`),
    destinations: Object.fromEntries(
      destinations.map(([key, each]) => [key, readDestination(each, `${place}.destinations.${key}`, schemas)]),
    ),
  };
}

function readDestination(value: unknown, place: string, schemas: Schemas): DestinationConfig {
  const destination = fields(value, place, ['catalog', 'enabled', 'paused', 'filters', 'settings']);
  const catalog = destination['catalog'] ?? DEFAULT_CATALOG;
  const schema = typeof catalog === 'string' ? schemas.get(catalog) : undefined;
  if (schema === undefined || typeof catalog !== 'string') {
    throw mistake(
      `${place}.catalog is no kind of destination of this server`,
      `There are: ${[...schemas.keys()].join(', ')}.`,
    );
  }
  const filters = destination['filters'] ?? [];
  if (!Array.isArray(filters)) throw mistake(`${place}.filters is no list`, 'Write one rule an item.');
  const written = fields(destination['settings'], `${place}.settings`);
  return {
    catalog,
    enabled: readBoolean(destination['enabled'], `${place}.enabled`, true),
    paused: readBoolean(destination['paused'], `${place}.paused`, false),
    filters: filters as FilterRule[],
    settings: readSettings(written, `${place}.settings`, schema),
    written,
  };
}

/** Secrets stay references; references in other values are resolved here. */
function readSettings(settings: Fields, place: string, schema: object): Fields {
  const secrets = new Map<string, unknown>();
  const open = withSecrets(schema, settings, (path, value) => {
    mustBeReference(inline(`${place}${path.replaceAll('/', '.')}`), value);
    secrets.set(path, value);
    return '';
  });
  const resolved = resolveReferences(open, place) as Fields;
  return withSecrets(schema, resolved, (path) => secrets.get(path));
}

function fields(value: unknown, place: string, known?: readonly string[]): Fields {
  if (!isObject(value)) throw mistake(`${inline(place)} is no mapping`, 'Write name: value lines below it.');
  const unknown = known === undefined ? undefined : Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return value;
  throw mistake(`${inline(place)} has the unknown field ${inline(unknown)}`, `There are: ${(known ?? []).join(', ')}.`);
}

function readBoolean(value: unknown, place: string, otherwise: boolean): boolean {
  if (value === undefined) return otherwise;
  if (typeof value === 'boolean') return value;
  throw mistake(`${inline(place)} is neither true nor false`, 'Write one of them.');
}

function readNumber(value: unknown, place: string): number | null {
  if (value === undefined || value === null) return null;
  if (Number.isSafeInteger(value) && Number(value) > 0) return Number(value);
  throw mistake(`${inline(place)} is no whole number above 0`, 'Write one such as 500, or leave it out.');
}

function readTexts(value: unknown, place: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return [...new Set(value)].toSorted();
  throw mistake(`${inline(place)} is no list of texts`, 'Write one text an item.');
}

function mistake(what: string, todo: string): Failure {
  return new Failure(`${what}.`, { exit: 'usage', todo });
}
