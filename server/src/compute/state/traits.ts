/**
 * The traits that identify calls gave a profile, each with the stamp of the newest call that named it: an older call that comes
 * later changes nothing. Null is kept too, since it takes a trait away. Beyond 64 the oldest go, but none that a definition asks for.
 */
import { keptTrait } from '@millrace/contract/audiences';
import type { JsonObject } from '@millrace/contract';
import {
  type ByteReader,
  type ByteWriter,
  readHash,
  readNumber,
  readText,
  writeHash,
  writeNumber,
  writeText,
} from './bytes.ts';
import { readTime, writeTime } from './buckets.ts';
import { compareStamps, type Stamp } from './stamped-cells.ts';
import { type KeptValue, readValue, writeValue } from './value-bytes.ts';

export const MAX_TRAITS = 64;
const MAX_NAME_CHARACTERS = 200;

export type KeptTrait = { stamp: Stamp; value: KeptValue };
export type Traits = Map<string, KeptTrait>;

/** Gives the names whose value is new. Names with a dot are paths in conditions, so no condition could ask for them. */
export function addTraits(traits: Traits, given: JsonObject, stamp: Stamp, needed: ReadonlySet<string>): string[] {
  const changed = Object.keys(given).filter((name) => {
    if (name.length > MAX_NAME_CHARACTERS || name.includes('.') || !name.isWellFormed()) return false;
    return setTrait(traits, name, { stamp, value: keptTrait(given[name] ?? null) });
  });
  if (changed.length > 0) limitTraits(traits, needed);
  return changed;
}

function setTrait(traits: Traits, name: string, trait: KeptTrait): boolean {
  const before = traits.get(name);
  if (before !== undefined && compareStamps(before.stamp, trait.stamp) >= 0) return false;
  traits.set(name, trait);
  return true;
}

function limitTraits(traits: Traits, needed: ReadonlySet<string>): void {
  if (traits.size <= MAX_TRAITS) return;
  const others = [...traits].filter(([name]) => !needed.has(name));
  others.sort(([a, { stamp }], [b, other]) => compareStamps(other.stamp, stamp) || (a < b ? -1 : 1));
  for (const [name] of others.slice(MAX_TRAITS)) traits.delete(name);
}

export function mergeTraits(into: Traits, from: Traits, needed: ReadonlySet<string>): void {
  for (const [name, trait] of from) setTrait(into, name, trait);
  limitTraits(into, needed);
}

/** One call names many traits, so the stamps come first, each once. */
export function writeTraits(to: ByteWriter, traits: Traits): void {
  const stamps: Stamp[] = [];
  for (const { stamp } of traits.values())
    if (!stamps.some((each) => compareStamps(each, stamp) === 0)) stamps.push(stamp);
  stamps.sort(compareStamps);
  writeNumber(to, stamps.length);
  for (const { at, hash } of stamps) {
    writeTime(to, at);
    writeHash(to, hash);
  }
  for (const name of [...traits.keys()].toSorted()) {
    const trait = traits.get(name);
    if (trait === undefined) continue;
    writeText(to, name);
    writeNumber(
      to,
      stamps.findIndex((each) => compareStamps(each, trait.stamp) === 0),
    );
    writeValue(to, trait.value);
  }
}

export function readTraits(from: ByteReader, end: number): Traits {
  const stamps: Stamp[] = [];
  for (let left = readNumber(from); left > 0; left -= 1) stamps.push({ at: readTime(from), hash: readHash(from) });
  const traits: Traits = new Map();
  while (from.at < end) {
    const name = readText(from);
    const stamp = stamps[readNumber(from)];
    if (stamp === undefined) throw new Error('A trait of a profile has no stamp');
    traits.set(name, { stamp, value: readValue(from) });
  }
  return traits;
}
