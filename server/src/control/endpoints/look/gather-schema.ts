/** Gathers the names of events, and the properties of each with types and samples. Pure. */
import type { AcceptedEvent, CallType, JsonValue } from '@millrace/contract';
import type { SchemaProperty } from '@millrace/contract/control';
import { eventName } from '../../../domain/event-name.ts';

export type GatheredKind = {
  type: CallType;
  name: string | null;
  count: number;
  lastAt: string;
  properties: SchemaProperty[];
  hasMore: boolean;
};

/** Objects in objects are followed so far. */
const MAX_DEPTH = 4;
/** Of one name. A source that makes up property names must not make up the answer's size. */
const MAX_PROPERTIES = 200;
const MAX_SAMPLES = 3;
const MAX_SAMPLE_LENGTH = 100;
const MAX_PATH_LENGTH = 300;

type Property = { types: Set<SchemaProperty['types'][number]>; count: number; samples: Set<string | number | boolean> };
type Kind = Omit<GatheredKind, 'properties'> & { properties: Map<string, Property> };

export type Gatherer = {
  add(event: AcceptedEvent): void;
  /** Most frequent first. */
  gathered(): GatheredKind[];
};

export function openGatherer(): Gatherer {
  const kinds = new Map<string, Kind>();
  return {
    add(event) {
      const name = eventName(event) ?? null;
      const key = JSON.stringify([event.type, name]);
      const fresh: Kind = { type: event.type, name, count: 0, lastAt: '', properties: new Map(), hasMore: false };
      const kind = kinds.get(key) ?? fresh;
      kinds.set(key, kind);
      kind.count += 1;
      if (event.receivedAt > kind.lastAt) kind.lastAt = event.receivedAt;
      addFields(kind, { value: fieldsOf(event), path: '', depth: 0 });
    },
    gathered() {
      const sorted = [...kinds.values()].toSorted((one, other) => other.count - one.count);
      return sorted.map((kind) => ({ ...kind, properties: [...kind.properties].map(toProperty) }));
    },
  };
}

function fieldsOf(event: AcceptedEvent): Record<string, JsonValue> {
  return (event.type === 'identify' || event.type === 'group' ? event.traits : event.properties) ?? {};
}

type Fields = { value: Record<string, JsonValue>; path: string; depth: number };

function addFields(kind: Kind, { value, path, depth }: Fields): void {
  for (const [name, field] of Object.entries(value)) {
    const place = (path === '' ? name : `${path}.${name}`).slice(0, MAX_PATH_LENGTH);
    if (!kind.properties.has(place) && kind.properties.size >= MAX_PROPERTIES) {
      kind.hasMore = true;
      continue;
    }
    const property: Property = kind.properties.get(place) ?? { types: new Set(), count: 0, samples: new Set() };
    kind.properties.set(place, property);
    property.count += 1;
    addValue(property, field);
    if (isFields(field) && depth + 1 < MAX_DEPTH) addFields(kind, { value: field, path: place, depth: depth + 1 });
  }
}

function addValue({ types, samples }: Property, value: JsonValue): void {
  types.add(typeName(value));
  if (samples.size >= MAX_SAMPLES || value === null || typeof value === 'object') return;
  samples.add(typeof value === 'string' ? cut(value) : value);
}

function cut(text: string): string {
  if (text.length <= MAX_SAMPLE_LENGTH) return text;
  // A surrogate whose other half was cut off is no text.
  return `${text.slice(0, MAX_SAMPLE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function typeName(value: JsonValue): SchemaProperty['types'][number] {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'string' | 'number' | 'boolean' | 'object';
}

function isFields(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toProperty([path, { types, count, samples }]: [string, Property]): SchemaProperty {
  return { path, types: [...types], count, samples: [...samples] };
}
