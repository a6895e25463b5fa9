/** Flattens a schema into the rows of a table: `settings.targets[].url`, its type, and what it means. */
import { type OpenApi, resolveSchema, type Schema } from './openapi.ts';

export type Field = { path: string; type: string; isRequired: boolean; meaning: string };

/** The table names deeper objects without their fields: a hundred rows hide the important ones. */
const MAX_DEPTH = 3;

export function fieldsOf(api: OpenApi, schema: Schema, path = '', depth = 0): Field[] {
  const { properties = {}, required = [], items, anyOf = [] } = resolveSchema(api, schema);
  if (items !== undefined) return fieldsOf(api, items, `${path}[]`, depth);
  const variants = anyOf.filter((each) => !isNull(each)).flatMap((each) => fieldsOf(api, each, path, depth));
  const own = Object.entries(properties).flatMap(([name, property]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const field = {
      path: at,
      type: typeOf(api, property),
      isRequired: required.includes(name),
      meaning: meaningOf(api, property),
    };
    return depth >= MAX_DEPTH ? [field] : [field, ...fieldsOf(api, property, at, depth + 1)];
  });
  return once([...own, ...variants]);
}

/** Variants of a union share fields: each is listed once, with every type it has. */
function once(fields: readonly Field[]): Field[] {
  const byPath = Map.groupBy(fields, ({ path }) => path);
  return [...byPath].map(([path, same]) => ({
    path,
    type: [...new Set(same.map(({ type }) => type))].join(' or '),
    isRequired: same.every(({ isRequired }) => isRequired),
    meaning: same.find(({ meaning }) => meaning !== '')?.meaning ?? '',
  }));
}

/** A type as people write it: `string, uuid`, `"all" or "some"`, `list of objects`. */
export function typeOf(api: OpenApi, schema: Schema): string {
  const { type, format, items, anyOf, enum: values, const: value } = resolveSchema(api, schema);
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return values.map((each) => JSON.stringify(each)).join(' or ');
  if (anyOf !== undefined) return [...new Set(anyOf.map((each) => typeOf(api, each)))].join(' or ');
  if (items !== undefined) return `list of ${typeOf(api, items)}`;
  if (format !== undefined) return `${type}, ${format}`;
  return type ?? 'any value';
}

function meaningOf(api: OpenApi, schema: Schema): string {
  const whole = resolveSchema(api, schema);
  return [schema.description ?? whole.description, limitsOf(whole)].filter(Boolean).join('. ');
}

function limitsOf({ minimum, maximum, minLength, maxLength, maxItems, default: usual }: Schema): string {
  const limits = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    (minLength ?? 0) <= 1 ? '' : `${minLength} characters at least`,
    maxLength === undefined ? '' : `${maxLength} characters at most`,
    maxItems === undefined ? '' : `${maxItems} entries at most`,
    usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
  ].filter((limit) => limit !== '');
  const text = limits.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function isNull({ type }: Schema): boolean {
  return type === 'null';
}
