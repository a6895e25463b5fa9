import { isObject, type UntrustedObject } from '../call.ts';

/** A mistake in a definition: its place, as in `/when/all/0/window`, and what to do about it. */
export type DefinitionProblem = { path: string; message: string };

/** Collects the mistakes of one object of a definition; places are relative to it. */
export type ProblemList = {
  add(path: string, message: string): void;
  at(path: string): ProblemList;
};

export function problemList(problems: DefinitionProblem[], base = ''): ProblemList {
  return {
    add: (path, message) => void problems.push({ path: base + path, message }),
    at: (path) => problemList(problems, base + path),
  };
}

/** Fields that the object may not have: a misspelled one would be ignored, and the definition mean something else. */
export function refuseOthers(value: UntrustedObject, known: readonly string[], problems: ProblemList): void {
  for (const name of Object.keys(value))
    if (!known.includes(name)) problems.add(`/${pointerStep(name)}`, `is not known here: ${known.join(', ')} are`);
}

export function checkText(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (value.trim() === '') return 'must not be empty';
  if (value.length > most) return `must have at most ${most} characters`;
  return undefined;
}

export function checkList(value: unknown, most: number, of: string): string | undefined {
  if (!Array.isArray(value)) return `must be a list of ${of}`;
  if (value.length > most) return `must have at most ${most} ${of}`;
  return undefined;
}

/** A name as one step of a JSON pointer. */
function pointerStep(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}

export { isObject };
export type { UntrustedObject };
