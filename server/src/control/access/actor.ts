import { isAllowed, type Permission, type RoleName } from './permissions.ts';
import { ApiProblem } from '../problems/problems.ts';

/** Who asks, in which workspace, with which rights. */
export type Actor = {
  kind: 'user' | 'token';
  /** Of the user or the token. */
  id: string;
  sessionId?: string;
  workspaceId: string;
  role: RoleName;
  scopes?: string[];
  address: string;
};

export function mustBeAllowed(actor: Actor, permission: Permission): void {
  if (!isAllowed(permission, actor)) throw new ApiProblem('not_allowed');
}

/** Who it was, for a row that says so. */
export function startedBy({ kind, id }: Actor): { kind: string; id: string } {
  return { kind, id };
}

/** What the audit log keeps of an actor. */
export function auditActor({ kind, id, sessionId, address }: Actor): Record<string, string> {
  return { kind, id, address, ...(sessionId === undefined ? {} : { sessionId }) };
}
