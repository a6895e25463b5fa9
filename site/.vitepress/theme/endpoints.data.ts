import { endpointsOf, readOpenApi } from '../../src/api/openapi.ts';
import { titleOf } from '../../src/api/reference-page.ts';

export type ApiGroup = {
  tag: string;
  title: string;
  about: string;
  endpoints: { id: string; method: string; path: string }[];
};

declare const data: ApiGroup[];
export { data };

export default {
  watch: ['../../../docs/use/openapi.json'],
  load: (): ApiGroup[] => {
    const api = readOpenApi();
    return api.tags.map(({ name, description }) => ({
      tag: name,
      title: titleOf(name),
      about: description,
      endpoints: endpointsOf(api, name).map(({ operationId, method, path }) => ({ id: operationId, method, path })),
    }));
  },
};
