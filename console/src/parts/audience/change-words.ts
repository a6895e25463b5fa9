/** Changes of a membership, and their causes. */
import type { ValueChange } from '@millrace/contract/control';

export function changeWord(value: unknown): string {
  return value === true ? 'entered' : 'left';
}

const CAUSES: Readonly<Record<ValueChange['cause'], string>> = {
  event: 'an event',
  time: 'time: events got too old',
  backfill: 'the past was counted',
  edit: 'the definition was changed',
  merge: 'two profiles became one',
};

export function causeWord(cause: ValueChange['cause']): string {
  return CAUSES[cause];
}
