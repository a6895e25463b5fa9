/** Changes parameters of the URL of this page; an empty or undefined value takes one away. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

export type SearchChange = Readonly<Record<string, string | undefined>>;

export function useSearchChange(): (change: SearchChange, options?: { replace?: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (change, { replace = false } = {}) => {
      void navigate({ to: '.', replace, search: (before: object) => changed(before, change) });
    },
    [navigate],
  );
}

function changed(before: object, change: SearchChange): Record<string, string> {
  const after: Record<string, string> = {};
  for (const [name, value] of Object.entries<unknown>({ ...before, ...change })) {
    if (typeof value === 'string' && value !== '') after[name] = value;
  }
  return after;
}
