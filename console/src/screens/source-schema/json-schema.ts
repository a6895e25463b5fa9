/** Turns the names and properties that a source sends into a JSON Schema (draft 2020-12) of its calls. */
import type { SourceSchema } from '@millrace/contract/control';
import type { SchemaItem } from './schema-rows.ts';

type Node = { types: Set<string>; count: number; children: Map<string, Node> };
type JsonSchema = Record<string, unknown>;

export function toJsonSchema(source: { id: string; name: string }, schema: SourceSchema): JsonSchema {
  const seen = schema.items.filter(({ count }) => count > 0);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Calls of ${source.name}`,
    $comment: `Made from ${schema.lookedAt.events} stored events of ${source.id}, ${schema.from} to ${schema.to}. Required are the fields that each of them has.`,
    anyOf: seen.map(schemaOfCall),
  };
}

function schemaOfCall({ type, name, count, properties }: SchemaItem): JsonSchema {
  const root: Node = { types: new Set(['object']), count, children: new Map() };
  for (const { path, types, count: own } of properties) {
    const node = path.split('.').reduce((parent, part) => child(parent, part), root);
    for (const one of types) node.types.add(one);
    node.count += own;
  }
  const nameField = type === 'track' ? 'event' : 'name';
  const content = type === 'identify' || type === 'group' ? 'traits' : 'properties';
  const isEmpty = root.children.size === 0;
  return {
    title: name ?? type,
    type: 'object',
    properties: {
      type: { const: type },
      ...(name === null ? {} : { [nameField]: { const: name } }),
      ...(isEmpty ? {} : { [content]: schemaOf(root) }),
    },
    required: ['type', ...(name === null ? [] : [nameField])],
  };
}

function child(parent: Node, part: string): Node {
  parent.types.add('object');
  const found = parent.children.get(part) ?? { types: new Set<string>(), count: 0, children: new Map<string, Node>() };
  parent.children.set(part, found);
  return found;
}

function schemaOf({ types, count, children }: Node): JsonSchema {
  const [first, ...others] = [...types].sort();
  const type = others.length === 0 ? first : [first, ...others];
  if (children.size === 0) return type === undefined ? {} : { type };
  const required = [...children].filter(([, node]) => count > 0 && node.count >= count).map(([name]) => name);
  return {
    type,
    properties: Object.fromEntries([...children].map(([name, node]) => [name, schemaOf(node)])),
    ...(required.length === 0 ? {} : { required }),
  };
}
