import { readFileSync } from 'node:fs';
import { PACKAGE_FILE } from './installed-files.ts';

/** The version of this server. */
export const VERSION = (JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string }).version;

/** As semantic versioning orders them, build numbers apart: negative when `one` is the older. */
export function compareVersions(one: string, other: string): number {
  const [numbers, early] = partsOf(one);
  const [otherNumbers, otherEarly] = partsOf(other);
  for (const [at, number] of numbers.entries()) {
    const difference = number - (otherNumbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (early === otherEarly) return 0;
  // 1.0.0-rc.1 comes before 1.0.0.
  if (early === '' || otherEarly === '') return early === '' ? 1 : -1;
  return early.localeCompare(otherEarly, 'en', { numeric: true });
}

function partsOf(version: string): [numbers: number[], early: string] {
  const [release = '', ...rest] = (version.split('+')[0] ?? '').split('-');
  return [release.split('.').map(Number), rest.join('-')];
}
