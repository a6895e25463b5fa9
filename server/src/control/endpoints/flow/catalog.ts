import { type CatalogEntry, CatalogItems } from '@millrace/contract/control';
import { ApiProblem } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';

export const catalogRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/catalog',
    summary: 'The kinds of destinations and what can be set on each',
    permission: 'catalog:read',
    answer: CatalogItems,
    status: 200,
    async handle(_asked, { catalog }) {
      return { items: catalog.map(({ settings, ...entry }) => ({ ...entry, settingsSchema: settings })) };
    },
  }),
];

/** The entry that a request names, or the names it could have used. */
export function entryNamed(catalog: readonly CatalogEntry[], name: string): CatalogEntry {
  const entry = catalog.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = catalog.map((each) => each.name).join(', ');
  throw new ApiProblem('invalid_request', [{ path: '/catalog', message: `must be one of: ${names}` }]);
}
