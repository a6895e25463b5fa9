import { isAllowed, type Permission, type RoleName } from './permissions.ts';
import { ApiProblem } from '../problems/problems.ts';

/** The user or token behind a request, with its workspace and its rights there. */
export type Actor = {
  kind: 'user' | 'token';
  /** Of the user or the token. */
  id: string;
  sessionId?: string;
  /** Single sign-on started the session, which opens this workspace alone. */
  isBound?: boolean;
  workspaceId: string;
  role: RoleName;
  scopes?: string[];
  address: string;
};

export function mustBeAllowed(actor: Actor, permission: Permission): void {
  if (!isAllowed(permission, actor)) throw new ApiProblem('not_allowed');
}

/** The actor as a job's row keeps it. */
export function startedBy({ kind, id }: Actor): { kind: string; id: string } {
  return { kind, id };
}

/** The actor as the audit log keeps it. */
export function auditActor({ kind, id, sessionId, address }: Actor): Record<string, string> {
  return { kind, id, address, ...(sessionId === undefined ? {} : { sessionId }) };
}
