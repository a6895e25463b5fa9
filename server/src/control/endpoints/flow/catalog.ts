import { CatalogItems } from '@millrace/contract/control';
import { type Route, route } from '../../http/route.ts';

export const catalogRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/catalog',
    summary: 'The kinds of destinations and what can be set on each',
    permission: 'catalog:read',
    answer: CatalogItems,
    status: 200,
    async handle(_request, { catalog }) {
      return { items: catalog.map(({ settings, ...entry }) => ({ ...entry, settingsSchema: settings })) };
    },
  }),
];
