import type { ComputedValue, DefinitionNumber } from '../profiles/profile-store.ts';
import { type ByteReader, type ByteWriter, readNumber, writeNumber } from './bytes.ts';
import { readValue, writeValue } from './value-bytes.ts';

/** The value of a definition for a profile after its last transition. Without a transition there is no heldValue. */
export type HeldValue = { definition: DefinitionNumber; sequence: number; value: ComputedValue };

const FALSE = 0;
const TRUE = 1;
const OTHER = 2;

/** Two bytes for most memberships: the distance to the definition before, and sequence and value in one number. */
export function writeHeldValues(to: ByteWriter, held: readonly HeldValue[]): void {
  writeNumber(to, held.length);
  let before = 0;
  for (const { definition, sequence, value } of held) {
    writeNumber(to, definition - before);
    before = definition;
    const code = value === false ? FALSE : value === true ? TRUE : OTHER;
    writeNumber(to, sequence * 3 + code);
    if (code === OTHER) writeValue(to, value);
  }
}

export function readHeldValues(from: ByteReader): HeldValue[] {
  const held: HeldValue[] = [];
  let definition = 0;
  for (let left = readNumber(from); left > 0; left -= 1) {
    definition += readNumber(from);
    const read = readNumber(from);
    const code = read % 3;
    const value = code === OTHER ? (readValue(from) as ComputedValue) : code === TRUE;
    held.push({ definition, sequence: Math.floor(read / 3), value });
  }
  return held;
}

export function heldValueOf(held: readonly HeldValue[], definition: DefinitionNumber): HeldValue | undefined {
  let low = 0;
  let high = held.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const heldValue = held[middle];
    if (heldValue === undefined) return undefined;
    if (heldValue.definition === definition) return heldValue;
    if (heldValue.definition < definition) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

export function addHeldValue(held: HeldValue[], heldValue: HeldValue): void {
  let place = held.length;
  while (place > 0 && (held[place - 1]?.definition ?? 0) > heldValue.definition) place -= 1;
  held.splice(place, 0, heldValue);
}
