import type { CatalogEntry } from '@millrace/contract/control';
import { ApiProblem } from '../problems/problems.ts';

/** The entry with this name; throws a problem that lists the names there are. */
export function entryNamed(catalog: readonly CatalogEntry[], name: string): CatalogEntry {
  const entry = catalog.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = catalog.map((each) => each.name).join(', ');
  throw new ApiProblem('invalid_request', [{ path: '/catalog', message: `must be one of: ${names}` }]);
}
