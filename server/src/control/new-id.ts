import { randomUUIDv7 } from 'node:crypto';

export type IdPrefix = 'ws' | 'usr' | 'ses' | 'tok' | 'src' | 'key' | 'dst' | 'rdr' | 'rpl' | 'del';

/** Sorts by time, so lists by id are lists by age, and says what it is the id of. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomUUIDv7().replaceAll('-', '')}`;
}
