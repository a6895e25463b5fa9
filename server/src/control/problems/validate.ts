import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { IsDateTime, Set as setFormat } from 'typebox/format';
import { ApiProblem, type FieldError } from './problems.ts';

/** A time as people write it need not be one that JavaScript and PostgreSQL both hold: a leap second, the year 0. */
setFormat('date-time', (text) => {
  const year = IsDateTime(text) ? new Date(text).getUTCFullYear() : Number.NaN;
  return year >= 1 && year <= 9_999;
});
const TIME = 'must be a time between the years 1 and 9999, such as 2026-11-16T12:00:00Z';

/**
 * Validates JSON without conversion: `"1"` is not a number, and unknown fields are refused. A schema is compiled when the first value comes:
 * most processes never get a request for most routes.
 */
export function bodyValidator(schema: TSchema, check?: (value: unknown) => FieldError[]): (value: unknown) => unknown {
  let compiled: Compiled | undefined;
  return (value) => {
    const said = check?.(value) ?? [];
    const errors = said.length > 0 ? said : errorsOf((compiled ??= Compile(schema)), value);
    if (errors.length > 0) throw new ApiProblem('invalid_request', errors);
    return Value.Default(schema, value);
  };
}

/** A query string holds only text, so numbers are converted first. */
export function queryValidator(schema: TSchema): (value: unknown) => unknown {
  const check = bodyValidator(schema);
  return (value) => check(Value.Convert(schema, value));
}

type Compiled = ReturnType<typeof Compile>;

/** One message a place, in words: of a union, only that none of its kinds fits. */
export function errorsOf(compiled: Compiled, value: unknown): FieldError[] {
  if (compiled.Check(value)) return [];
  const byPath = new Map<string, string>();
  for (const { instancePath, keyword, message, schemaPath, params } of compiled.Errors(value)) {
    if (keyword === 'enum') byPath.set(instancePath, `must be one of: ${params.allowedValues.join(', ')}`);
    else if (keyword === 'format') byPath.set(instancePath, TIME);
    else if (keyword === 'boolean') byPath.set(instancePath, 'is not known here');
    else if (keyword === 'additionalProperties' || /\/anyOf\/\d/.test(schemaPath)) continue;
    else if (!byPath.has(instancePath)) byPath.set(instancePath, message);
  }
  return [...byPath].map(([path, message]) => ({ path: path === '' ? '/' : path, message }));
}
