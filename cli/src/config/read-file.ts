/** A file of `millrace export`, read strictly: an unknown field is a mistake, and a secret in clear is refused. */
import { isObject } from '@millrace/server/walk-settings';
import type { FilterRule } from '@millrace/contract';
import { parse, YAMLParseError } from 'yaml';
import { Failure } from '../output/failures.ts';
import { inline } from '../output/print.ts';
import {
  DEFAULT_CATALOG,
  type DestinationConfig,
  FILE_VERSION,
  type SourceConfig,
  type WorkspaceConfig,
} from './model.ts';
import { mustBeReference, resolveReferences, withSecrets } from './secrets.ts';

type Fields = Record<string, unknown>;
type Schemas = ReadonlyMap<string, object>;

export function readConfigFile(text: string, schemas: Schemas): WorkspaceConfig {
  const file = fields(parseYaml(text), 'The file', ['version', 'sources']);
  if (file['version'] !== FILE_VERSION) {
    throw mistake(`The file has version ${JSON.stringify(file['version'] ?? null)}`, `Write version: ${FILE_VERSION}.`);
  }
  const sources = Object.entries(fields(file['sources'] ?? {}, 'sources'));
  return { sources: Object.fromEntries(sources.map(([name, value]) => [name, readSource(name, value, schemas)])) };
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
