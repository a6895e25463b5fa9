import { isReservedHeader } from '../../domain/webhook-headers.ts';

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Visible ASCII, spaces and tabs inside: anything else reaches receivers in different ways. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/** The problem of each invalid static header, by name. */
export function headerProblems(headers: Record<string, unknown>): Map<string, string> {
  const problems = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const problem =
      headerProblem(name, value) ?? (seen.has(lower) ? 'is there twice: names do not tell case apart' : undefined);
    if (problem !== undefined) problems.set(name, problem);
    seen.add(lower);
  }
  return problems;
}

function headerProblem(name: string, value: unknown): string | undefined {
  if (!NAME.test(name)) return 'is not a header name: use letters, digits and dashes';
  if (isReservedHeader(name)) return 'is reserved: choose another name';
  if (typeof value !== 'string' || !VALUE.test(value))
    return 'must have a value of visible ASCII characters, without line breaks';
  return undefined;
}
