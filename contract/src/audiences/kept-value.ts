/** A profile keeps scalars of bounded size from the values in events; the rest of a call is never stored in it. */
import type { JsonObject, JsonValue } from '../call.ts';
import type { FilterValue } from '../filter.ts';
import { AMOUNT_SCALE, MAX_AMOUNT, MAX_VALUE_CHARACTERS } from './definition.ts';

/** As deep as people look into traits: address.geo.country. */
const MAX_TRAIT_DEPTH = 3;
const MAX_TRAIT_FIELDS = 32;

/** A text (its first 256 characters), number or boolean; undefined for everything else, which no list or trait can hold. */
export function keptValue(value: JsonValue | undefined): FilterValue | undefined {
  if (typeof value === 'string') return keptText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  return typeof value === 'boolean' ? value : undefined;
}

/** Well-formed, since it is stored as UTF-8: a lone surrogate would come back as another text. */
function keptText(text: string): string {
  const short = text.length <= MAX_VALUE_CHARACTERS ? text : text.slice(0, MAX_VALUE_CHARACTERS);
  return short.isWellFormed() ? short : short.toWellFormed();
}

/**
 * The value of a trait: null for null, objects up to three levels and 32 fields a level. A list, and everything deeper, becomes
 * an empty object: it exists, and equals nothing.
 */
export function keptTrait(value: JsonValue, depth = 1): FilterValue | JsonObject | null {
  if (typeof value !== 'object') return keptValue(value) ?? null;
  if (value === null) return null;
  if (Array.isArray(value) || depth >= MAX_TRAIT_DEPTH) return {};
  const names = Object.keys(value)
    .filter((name) => name.length <= MAX_VALUE_CHARACTERS && name.isWellFormed() && name !== '__proto__')
    .toSorted(compareTexts)
    .slice(0, MAX_TRAIT_FIELDS);
  return Object.fromEntries(names.map((name) => [name, keptTrait(value[name] ?? null, depth + 1)]));
}

/** A number that can be summed, averaged and compared; undefined for texts as well, and for numbers beyond MAX_AMOUNT. */
export function amountOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= MAX_AMOUNT ? value + 0 : undefined;
}

/** The amount in whole millionths, the unit of sums; beyond 9·10^9 a number of JavaScript has fewer decimals than that anyway. */
export function millionthsOf(amount: number): number {
  return Math.round(amount * AMOUNT_SCALE) + 0;
}

const KIND_ORDER = { number: 0, boolean: 1, string: 2 } as const;

/** The order of values in lists, and of equally frequent ones: numbers, booleans, then texts by their code units. */
export function compareValues(a: FilterValue, b: FilterValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  const kinds = kindOrder(a) - kindOrder(b);
  return kinds === 0 ? Number(a) - Number(b) : kinds;
}

function kindOrder(value: FilterValue): number {
  return KIND_ORDER[typeof value as keyof typeof KIND_ORDER];
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
