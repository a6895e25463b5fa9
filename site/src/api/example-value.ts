/** A value that fits a schema, for the examples of the reference: plausible where the format says what it is. */
import { isNull } from './schema-fields.ts';
import { type OpenApi, resolveSchema, type Schema } from './openapi.ts';

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-11-16T12:00:00.000Z',
  date: '2026-11-16',
  uuid: '019a8b3e-5c1d-7f00-8000-000000000000',
  email: 'kim@example.com',
  uri: 'https://example.com/hook',
};

const MAX_DEPTH = 6;

/** With `isRequest`, only the fields that the endpoint demands. */
export function exampleValue(api: OpenApi, schema: Schema, isRequest: boolean, depth = 0): unknown {
  const {
    type,
    format,
    properties,
    required = [],
    items,
    anyOf,
    enum: values,
    const: value,
    ...rest
  } = resolveSchema(api, schema);
  if (value !== undefined) return value;
  if (rest.default !== undefined) return rest.default;
  if (values !== undefined) return values[0];
  if (anyOf !== undefined) return exampleValue(api, anyOf.find((each) => !isNull(each)) ?? {}, isRequest, depth);
  if (items !== undefined) return depth >= MAX_DEPTH ? [] : [exampleValue(api, items, isRequest, depth + 1)];
  if (properties !== undefined) {
    if (depth >= MAX_DEPTH) return {};
    const shown = Object.entries(properties).filter(([name]) => !isRequest || required.includes(name));
    return Object.fromEntries(shown.map(([name, each]) => [name, exampleValue(api, each, isRequest, depth + 1)]));
  }
  if (type === 'string') return BY_FORMAT[format ?? ''] ?? 'text';
  if (type === 'integer' || type === 'number') return rest.minimum ?? 0;
  if (type === 'boolean') return true;
  return type === 'null' ? null : {};
}
