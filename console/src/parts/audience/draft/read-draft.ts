/** The definition that a draft says, and the place of each condition in it, so that a problem stands beside its field. */
import {
  checkDefinition,
  type Definition,
  type DefinitionProblem,
  type EventSelection,
} from '@millrace/contract/audiences';
import type { FilterRule } from '@millrace/contract';
import { type DraftRule, isList, readValue, readValues, takesValue } from '../../destination/filters/rules.ts';
import { problemWords } from './problem-words.ts';
import type { Draft, DraftEvent, DraftGroup, DraftPart, DraftSelection, DraftTrait, SelectedType } from './draft.ts';

/** The key of the condition that stands at a path of the definition: `/when/all/0`. */
export type Places = ReadonlyMap<string, number>;
/** A draft may hold anything: the check says what is wrong with it. */
type Untrusted = Record<string, unknown>;

export type ReadDraft = { definition: Definition; places: Places; problems: readonly DefinitionProblem[] };

/** A preview needs no name: `nameless` stands in for one. */
export function readDraft(draft: Draft, nameless?: string): ReadDraft {
  const places = new Map<string, number>();
  const name = draft.name.trim() === '' && nameless !== undefined ? nameless : draft.name.trim();
  const definition: Untrusted = {
    kind: draft.kind,
    name,
    ...(draft.sources.length === 0 ? {} : { sources: draft.sources }),
    destinations: draft.destinations,
    includeAnonymous: draft.includeAnonymous,
    ...(draft.settleSeconds.trim() === '' ? {} : { settleSeconds: readNumber(draft.settleSeconds) }),
    ...(draft.kind === 'audience' ? { when: outermost(draft.root, places) } : computedOf(draft)),
  };
  const checked = checkDefinition(definition);
  return {
    definition: definition as unknown as Definition,
    places,
    problems: checked.ok ? [] : checked.problems,
  };
}

function computedOf({ compute, computed, field }: Draft): Untrusted {
  return { compute, ...selectionOf(computed), ...(compute === 'count' ? {} : { field: textOf(field) }) };
}

/** One condition alone needs no group around it. */
function outermost(root: DraftGroup, places: Map<string, number>): unknown {
  const [only] = root.parts;
  if (root.parts.length === 1 && only !== undefined && !root.isNot) return conditionOf(only, '/when', places);
  return conditionOf(root, '/when', places);
}

function conditionOf(part: DraftPart, path: string, places: Map<string, number>): unknown {
  places.set(path, part.key);
  if (part.isNot) return { not: conditionOf({ ...part, isNot: false }, `${path}/not`, places) };
  if (part.shape !== 'group') return leafOf(part);
  return {
    [part.join]: part.parts.map((inner, place) => conditionOf(inner, `${path}/${part.join}/${place}`, places)),
  };
}

function leafOf(part: Exclude<DraftPart, DraftGroup>): unknown {
  if (part.shape === 'audience') return { audience: part.audience };
  return part.shape === 'trait' ? traitOf(part) : eventOf(part);
}

function traitOf({ rule }: DraftTrait): Untrusted {
  const { field, ...compared } = ruleOf(rule);
  return { trait: field, ...compared };
}

function eventOf({ selection, measured, field, comparison, number, upper }: DraftEvent): Untrusted {
  return {
    ...selectionOf(selection),
    ...(measured === 'count' ? {} : { [measured]: field.trim() }),
    ...(comparison === 'between'
      ? { atLeast: readNumber(number), lessThan: readNumber(upper) }
      : { [comparison]: readNumber(number) }),
  };
}

function selectionOf({ type, event, where, time, length, unit, from, to }: DraftSelection): Partial<EventSelection> {
  return {
    ...(type === 'track' ? {} : { type: type === 'any' ? 'track' : type }),
    ...(isNameless(type) || (event.trim() === '' && type !== 'track') ? {} : { event: event.trim() }),
    ...(where.length === 0 ? {} : { where: where.map((rule) => ruleOf(rule)) }),
    ...(time === 'window' ? { window: `${length.trim()}${unit}` } : {}),
    ...(time === 'between' ? { between: { from: timeOf(from), to: timeOf(to) } } : {}),
  };
}

export function isNameless(type: SelectedType): boolean {
  return type === 'identify' || type === 'any';
}

function ruleOf({ field, op, text }: DraftRule): FilterRule {
  const name = field.trim();
  if (!takesValue(op)) return { field: name, op };
  if (isList(op)) return { field: name, op, values: readValues(text) };
  if (text.trim() === '') return { field: name, op };
  return { field: name, op, value: op === 'starts_with' ? text : readValue(text) };
}

/** A text that is no number stays one: the check says so. */
function readNumber(text: string): unknown {
  const bare = text.trim().replaceAll(',', '');
  if (bare === '') return undefined;
  return Number.isFinite(Number(bare)) ? Number(bare) : bare;
}

function textOf(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

function timeOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** The problems of each condition by its key, each with the field it is about: `atLeast`, `where/0/value`. */
export function problemsByKey(
  problems: readonly DefinitionProblem[],
  places: Places,
): Map<number, Map<string, string>> {
  const found = new Map<number, Map<string, string>>();
  for (const { path, message } of problems) {
    const at = placeOf(path, places);
    if (at === undefined) continue;
    const [place, key] = at;
    const ofKey = found.get(key) ?? new Map<string, string>();
    const field = path.slice(place.length).replace(/^\//, '');
    if (!ofKey.has(field)) ofKey.set(field, problemWords(field, message));
    found.set(key, ofKey);
  }
  return found;
}

/** The deepest condition that a path leads into. */
function placeOf(path: string, places: Places): [string, number] | undefined {
  let deepest: [string, number] | undefined;
  for (const [place, key] of places) {
    const isInside = path === place || path.startsWith(`${place}/`);
    if (isInside && place.length >= (deepest?.[0].length ?? 0)) deepest = [place, key];
  }
  return deepest;
}

/** The problems outside of conditions, by field: `name`, `settleSeconds`, and those of a computed trait. */
export function problemsOfFields(problems: readonly DefinitionProblem[], places: Places): Map<string, string> {
  return new Map(
    problems
      .filter(({ path }) => placeOf(path, places) === undefined)
      .map(({ path, message }) => [path.slice(1), problemWords(path.slice(1), message)]),
  );
}
