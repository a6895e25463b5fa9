import type { Me } from '@millrace/contract/control';
import { queryOptions } from '@tanstack/react-query';
import { askControl } from './ask-control.ts';

/** The person who is signed in, and their workspaces. */
export const readingMe = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => askControl<Me>('/me', { signal, early: takeEarly() }),
});

declare global {
  interface Window {
    /** Sent by start.js, while the browser still loads the console. */
    millraceMe?: Promise<Response> | undefined;
  }
}

/** Once: any later question is about a later moment. */
function takeEarly(): Promise<Response> | undefined {
  const early = window.millraceMe;
  window.millraceMe = undefined;
  return early;
}
