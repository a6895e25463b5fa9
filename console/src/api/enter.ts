import type { Me } from '@millrace/contract/control';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { rememberWorkspace } from './session.tsx';

/** Begins a session in the console: forgets all that was read before, and opens a page of it. */
export function useEnter() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (me: Me | undefined, { href = '/', workspaceId }: { href?: string; workspaceId?: string } = {}) => {
    client.clear();
    if (me !== undefined) client.setQueryData(['me'], me);
    if (workspaceId !== undefined) rememberWorkspace(workspaceId);
    await navigate({ href });
  };
}
