import type { Me } from '@millrace/contract/control';
import { queryOptions } from '@tanstack/react-query';
import { askControl } from './ask-control.ts';

/** The person who is signed in, and their workspaces. */
export const readingMe = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => askControl<Me>('/me', { signal }),
});
