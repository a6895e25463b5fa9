/** Every audience and computed trait of the workspace. There are 200 at most, on two pages. */
import type { Definition, Definitions } from '@millrace/contract/control';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { askControl, currentWorkspace } from './ask-control.ts';

export const DEFINITIONS = '/definitions';
const PAGE_ITEMS = 100;

export type AllDefinitions = { items: Definition[]; lagSeconds: number | null };

export function readingDefinitions({
  every = false,
  enabled = true,
}: {
  every?: number | false;
  enabled?: boolean;
} = {}) {
  return queryOptions({
    queryKey: [currentWorkspace() ?? '', DEFINITIONS, 'all'],
    queryFn: ({ signal }) => readAll(signal),
    placeholderData: keepPreviousData,
    refetchInterval: every,
    enabled,
  });
}

async function readAll(signal: AbortSignal): Promise<AllDefinitions> {
  const items: Definition[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await askControl<Definitions>(DEFINITIONS, { query: { limit: PAGE_ITEMS, cursor }, signal });
    items.push(...page.items);
    if (page.nextCursor === null) return { items, lagSeconds: page.lagSeconds };
    cursor = page.nextCursor;
  }
}
