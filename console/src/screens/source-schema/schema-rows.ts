/** The names that a source sends: those among its latest events, then those that were seen earlier. */
import type { SchemaProperty, SourceEvents, SourceSchema } from '@millrace/contract/control';
import type { Static } from 'typebox';

export type SchemaItem = SourceSchema['items'][number];
export type NamesSeen = Static<typeof SourceEvents>['items'];

export function schemaRows(schema: SourceSchema, seen: NamesSeen): SchemaItem[] {
  const known = new Set(schema.items.filter(({ type }) => type === 'track').map(({ name }) => name));
  const earlier = seen
    .filter(({ name }) => !known.has(name))
    .map((event) => ({ ...event, type: 'track' as const, count: 0, properties: [], hasMore: false }));
  return [...schema.items, ...earlier];
}

/** How the URL names one of them. */
export function keyOf({ type, name }: Pick<SchemaItem, 'type' | 'name'>): string {
  return name === null ? type : `${type}:${name}`;
}

/** By name, type, or the path of a property; upper and lower case are the same. */
export function matching(rows: readonly SchemaItem[], filter: string): SchemaItem[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return [...rows];
  return rows.filter(({ type, name, properties }) =>
    [type, name ?? '', ...properties.map(({ path }) => path)].some((text) => text.toLowerCase().includes(wanted)),
  );
}

/** A property that has not always the same type, apart from null. */
export function isMixed({ types }: SchemaProperty): boolean {
  return types.filter((type) => type !== 'null').length > 1;
}
