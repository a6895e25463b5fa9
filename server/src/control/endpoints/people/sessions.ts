import { Sessions } from '@millrace/contract/control';
import { deleteOtherSessions, deleteSession, listSessions, type SessionRow } from '../../../store/sessions.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { recordForUser } from '../../access/start-session.ts';

export const sessionRoutes: AccountRoute[] = [
  accountRoute({
    method: 'GET',
    url: '/api/v1/sessions',
    summary: 'Your sessions',
    access: 'user',
    allowsBound: true,
    answer: Sessions,
    status: 200,
    async handle({ who }, { store }) {
      const rows = await store.asSystem((tx) => listSessions(tx, who));
      return { body: { items: rows.map((row) => toSession(row, who.sessionId)) } };
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/sessions/:id',
    summary: 'Ends one of your sessions',
    access: 'user',
    allowsBound: true,
    status: 204,
    async handle({ who, params, address }, { store, now }) {
      const { userId, sessionId, boundTo } = who;
      await store.asSystem(async (tx) => {
        if (!(await deleteSession(tx, { id: params.id, userId, boundTo }))) throw new ApiProblem('not_found');
        await recordForUser(tx, { userId, sessionId, address, boundTo }, 'session.revoked', now());
      });
      return {};
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/sessions/revoke-others',
    summary: 'Ends all of your sessions but this one',
    access: 'user',
    allowsBound: true,
    status: 204,
    async handle({ who, address }, { store, now }) {
      const { userId, sessionId, boundTo } = who;
      await store.asSystem(async (tx) => {
        await deleteOtherSessions(tx, { id: sessionId, userId, boundTo });
        await recordForUser(tx, { userId, sessionId, address, boundTo }, 'session.others_revoked', now());
      });
      return {};
    },
  }),
];

function toSession(row: SessionRow, currentId: string) {
  return {
    id: row.id,
    address: row.address,
    lastAddress: row.last_address ?? row.address,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    isCurrent: row.id === currentId,
    isSingleSignOn: row.bound_to !== null,
  };
}
