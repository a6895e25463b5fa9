import { randomUUIDv7 } from 'node:crypto';

export type IdPrefix = 'ws' | 'usr' | 'ses' | 'tok' | 'inv' | 'src' | 'key' | 'dst' | 'rdr' | 'rpl' | 'del' | 'chk';

/** Sorts by time, so lists by id are lists by age, and says what it is the id of. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomUUIDv7().replaceAll('-', '')}`;
}

/** When an id was made. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(id.indexOf('_') + 1).slice(0, 12), 16) || 0);
}
