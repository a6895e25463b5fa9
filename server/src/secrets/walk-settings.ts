import type { SettingMarks } from '@millrace/contract/control';
import type { TSchema } from 'typebox';

/** A schema as the walk sees it: JSON Schema with our marks. */
export type SettingSchema = TSchema &
  SettingMarks & {
    properties?: Record<string, SettingSchema>;
    patternProperties?: Record<string, SettingSchema>;
    items?: SettingSchema;
  };

/** A place in settings. `path` is a JSON pointer; `column` leaves the positions in lists out, which may change. */
export type SettingPlace = { schema: SettingSchema; path: string; column: string };

/** Calls for every value that the schema knows, outermost first, in whatever state the settings are. */
export function visitSettings(
  place: SettingPlace,
  value: unknown,
  visit: (place: SettingPlace, value: unknown) => void,
): void {
  visit(place, value);
  for (const [inner, innerValue] of childrenOf(place, value)) visitSettings(inner, innerValue, visit);
}

/** A copy of the settings with every secret replaced. The rest is as it was, also what the schema does not know. */
export function mapSecrets(
  place: SettingPlace,
  value: unknown,
  replace: (place: SettingPlace, value: unknown) => unknown,
): unknown {
  if (place.schema.secret === true) return replace(place, value);
  const mapped = childrenOf(place, value).map(([inner, each]) => mapSecrets(inner, each, replace));
  if (Array.isArray(value) && place.schema.items !== undefined) return mapped;
  if (!isObject(value)) return value;
  const names = knownNames(place.schema, value);
  return { ...value, ...Object.fromEntries(names.map((name, index) => [name, mapped[index]])) };
}

export function rootPlace(schema: TSchema): SettingPlace {
  return { schema, path: '', column: 'settings' };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function childrenOf(place: SettingPlace, value: unknown): [SettingPlace, unknown][] {
  const { schema, path, column } = place;
  const { items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((each, index) => [{ schema: items, path: `${path}/${index}`, column }, each]);
  }
  if (!isObject(value)) return [];
  return knownNames(schema, value).map((name) => [childPlace(place, name), value[name]]);
}

function childPlace({ schema, path, column }: SettingPlace, name: string): SettingPlace {
  const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return { schema: childSchema(schema, name) ?? {}, path: `${path}/${pointer}`, column: `${column}.${name}` };
}

function knownNames(schema: SettingSchema, value: Record<string, unknown>): string[] {
  return Object.keys(value).filter((name) => childSchema(schema, name) !== undefined);
}

/** A record's pattern is not asked: a name that slipped past it would be a secret that is not sealed. */
function childSchema({ properties, patternProperties }: SettingSchema, name: string): SettingSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return Object.values(patternProperties ?? {})[0];
}
