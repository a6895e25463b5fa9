/** Who is signed in, in which workspace, and what that role may do. */
import { isAllowed, isOfOperators, type Permission } from '@millrace/contract/permissions';
import type { Me } from '@millrace/contract/control';
import { createContext, type ReactNode, use } from 'react';

export type Session = {
  user: { id: string; email: string; name: string; hasSecondFactor: boolean };
  workspace: Me['workspaces'][number];
  workspaces: Me['workspaces'];
  /** Runs the installation. */
  isOperator: boolean;
  /** Single sign-on started this session: it opens one workspace, and changes no account. */
  isSingleSignOn: boolean;
  chooseWorkspace(id: string): void;
};

const SessionContext = createContext<Session | undefined>(undefined);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('a screen is only shown inside a session');
  return session;
}

/** Whether the role of this session, or its operator, may do it; the server decides in any case. */
export function useMay(permission: Permission): boolean {
  const { workspace, isOperator } = useSession();
  return isOfOperators(permission) ? isOperator : isAllowed(permission, { role: workspace.role });
}

const CHOSEN = 'millrace-workspace';

/** A window keeps its workspace when another window changes to another one; a new window begins with the last choice. */
export function chosenWorkspace(me: Me): Me['workspaces'][number] | undefined {
  const id = sessionStorage.getItem(CHOSEN) ?? localStorage.getItem(CHOSEN);
  const found = me.workspaces.find((workspace) => workspace.id === id) ?? me.workspaces[0];
  if (found !== undefined) sessionStorage.setItem(CHOSEN, found.id);
  return found;
}

export function rememberWorkspace(id: string): void {
  localStorage.setItem(CHOSEN, id);
  sessionStorage.setItem(CHOSEN, id);
}
