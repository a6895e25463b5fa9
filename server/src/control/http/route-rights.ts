/** The one place that decides which permissions a request needs, whether payloads are hidden, and which reads are audited. */
import { userHash } from '../../domain/withheld.ts';
import { type Actor, auditActor, mustBeAllowed } from '../access/actor.ts';
import type { Identity } from '../access/authenticate.ts';
import { isAllowed, type Permission } from '../access/permissions.ts';
import type { ReadKind, ReadLog } from '../audit/read-log.ts';
import { ApiProblem } from '../problems/problems.ts';
import type { Method, Payloads, Route } from './route.ts';

type Guarded = {
  method: Method;
  url: string;
  permission: Permission;
  alsoNeeds?: Permission;
  payloads?: Payloads;
  showsWriteKeys?: boolean;
};
export type Noting = { reads: Pick<ReadLog, 'note'> };

const PAYLOADS: Permission = 'payloads:read';

/** Every permission without which the endpoint refuses. */
export function permissionsOf({ permission, alsoNeeds, payloads }: Guarded): Permission[] {
  const forPayloads = payloads !== undefined && payloads.hide === undefined;
  return [permission, ...(alsoNeeds === undefined ? [] : [alsoNeeds]), ...(forPayloads ? [PAYLOADS] : [])];
}

export function mustHaveRights(actor: Actor, route: Guarded): void {
  for (const permission of permissionsOf(route)) mustBeAllowed(actor, permission);
}

/** A filter by contents would tell of them by what it finds. */
export function mustNotProbe(actor: Actor, { payloads }: Guarded, asked: { query: unknown; body: unknown }): void {
  if (payloads?.asksAbout?.(asked as never) === true) mustBeAllowed(actor, PAYLOADS);
}

/** The answer as this actor may see it. */
export function shownTo(actor: Actor, { payloads }: Pick<Route, 'payloads'>, answer: unknown): unknown {
  if (payloads?.hide === undefined || isAllowed(PAYLOADS, actor)) return answer;
  return payloads.hide(answer as never);
}

/** Notes a request that was answered, if it showed payloads or write keys. */
export function noteRead(actor: Actor, route: Guarded, params: object, { reads }: Noting): void {
  const note = (action: ReadKind) => {
    const about = { actor: auditActor(actor), workspaceId: actor.workspaceId, endpoint: endpointOf(route) };
    reads.note({ ...about, action, objectId: objectOf(route, params, actor.workspaceId) });
  };
  if (route.payloads !== undefined && isAllowed(PAYLOADS, actor)) note('payload.viewed');
  if (route.showsWriteKeys === true) note('write_key.viewed');
}

/** Notes a request that was refused for its permissions. */
export function noteRefusal(
  error: unknown,
  actor: Actor,
  route: { method: string; url: string },
  noting: Noting & { params: object },
): void {
  if (!isRefusal(error)) return;
  const { workspaceId } = actor;
  const objectId = objectOf(route, noting.params, workspaceId);
  const about = { actor: auditActor(actor), workspaceId, objectId, endpoint: endpointOf(route) };
  noting.reads.note({ ...about, action: 'permission.denied' });
}

/** The same for an endpoint of no workspace: a token has one, a person perhaps several. */
export function noteAccountRefusal(
  error: unknown,
  from: { who: Identity | undefined; address: string },
  route: { method: string; url: string },
  { reads }: Noting,
): void {
  if (!isRefusal(error) || from.who === undefined) return;
  const { who, address } = from;
  const about = { objectId: undefined, endpoint: endpointOf(route), action: 'permission.denied' } as const;
  if (who.kind === 'token') {
    const { id, workspace_id: workspaceId } = who.token;
    reads.note({ ...about, actor: { kind: 'token', id, address }, workspaceId });
  } else {
    const actor = { kind: 'user', id: who.userId, sessionId: who.sessionId, address };
    reads.note({ ...about, actor, workspaceId: undefined });
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'not_allowed';
}

function endpointOf({ method, url }: { method: string; url: string }): string {
  return `${method} ${url}`;
}

const OWN_ID = /^[a-z]{1,4}_[\w-]{1,64}$/;

/** Ids of users and messages are hashed: nothing can be erased from the audit log. A text that is no id of ours is left out. */
function objectOf({ url }: { url: string }, params: object, workspaceId: string): string | undefined {
  const { id, userId, messageId } = params as Record<string, string | undefined>;
  const foreign = url.includes('/profiles/') ? userId : messageId;
  if (foreign !== undefined) return userHash(workspaceId, foreign);
  const own = id ?? userId;
  return own !== undefined && OWN_ID.test(own) ? own : undefined;
}
