import { ApiProblem } from '../problems/problems.ts';

const MAX_DEPTH = 32;

/**
 * JSON that is safe to validate, store and send on: PostgreSQL stores no NUL and no lone surrogates, and deep nesting overflows
 * the stack of recursive code.
 */
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiProblem('invalid_request', [{ path: '/', message: 'must be JSON' }]);
  }
  const message = findFault(value, 0);
  if (message !== undefined) throw new ApiProblem('invalid_request', [{ path: '/', message }]);
  return value;
}

function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return text.isWellFormed() ? undefined : 'must not contain half of a surrogate pair';
}

function findFault(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return findTextFault(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return 'must not have a field called __proto__';
    const fault = findFault(key, depth) ?? findFault(inner, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
