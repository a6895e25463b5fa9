import { fieldProblem, readFields, type Stored, unreadable } from './format.ts';

/** Compute needs none of the requests up to this sequence any more. `createdAt` is of the stream, in milliseconds. */
export type Floor = { createdAt: number; through: number };

export function readFloorText(text: string): Stored<Floor> {
  const read = readFields('floor', text);
  if (!read.ok) return read;
  const why = fieldProblem(read.value, { createdAt: 'number', through: 'number' });
  return why === undefined ? { ok: true, value: read.value as Floor } : unreadable(`a floor whose ${why}`);
}
