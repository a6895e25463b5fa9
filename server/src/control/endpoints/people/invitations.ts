import { CreatedInvitation, Invitations, NewInvitation, PageQuery } from '@millrace/contract/control';
import {
  countInvitations,
  deleteInvitation,
  insertInvitation,
  type InvitationRow,
  listInvitations,
  lockInvitationOf,
} from '../../../store/invitations.ts';
import { listMembers } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { mustBeOursToGive } from './members.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { isAtMost, type RoleName } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';
import { hashOfSecret, makeSecret } from '../../access/secret-text.ts';

const WRITE = { permission: 'members:write' } as const;
const VALID_MS = 72 * 3_600_000;
const MAX_OPEN = 100;

export const invitationRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/invitations',
    summary: 'Invitations that can still be accepted',
    permission: 'members:read',
    query: PageQuery,
    answer: Invitations,
    status: 200,
    async handle({ tx, actor, query }) {
      const page = readPage(query);
      const rows = await listInvitations(tx, actor.workspaceId, page);
      return toPage(rows, page, { item: toInvitation, key: (row) => row.id });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/invitations',
    summary: 'Invites a person with a link that works once, for 72 hours; only this answer shows it',
    body: NewInvitation,
    answer: CreatedInvitation,
    status: 201,
    ...WRITE,
    async handle({ tx, actor, body, audit }, { now }) {
      const { workspaceId } = actor;
      mustBeOursToGive(body.role, actor);
      await mustBeNew(tx, workspaceId, body.email);
      const before = await lockInvitationOf(tx, workspaceId, body.email);
      // The new invitation revokes the link of the previous one, so it needs the same permission as withdrawing it.
      if (before !== undefined && !isAtMost(before.role as RoleName, actor.role)) throw new ApiProblem('not_allowed');
      const secret = makeSecret('mli');
      const row = await insertInvitation(tx, {
        workspaceId,
        id: newId('inv'),
        email: body.email,
        role: body.role,
        secretHash: hashOfSecret(secret),
        createdBy: actor.id,
        expiresAt: new Date(now().getTime() + VALID_MS),
      });
      if ((await countInvitations(tx, workspaceId)) > MAX_OPEN) throw tooMany();
      const invitation = toInvitation(found(row));
      const details = { email: body.email, role: body.role, expiresAt: invitation.expiresAt };
      await audit('member.invited', invitation.id, { details });
      return { ...invitation, token: secret, link: `/join#token=${secret}` };
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/invitations/:id',
    summary: 'Withdraws an invitation; its link stops working',
    status: 204,
    ...WRITE,
    async handle({ tx, actor, params, audit }) {
      const row = found(await deleteInvitation(tx, actor.workspaceId, params.id));
      if (!isAtMost(row.role as RoleName, actor.role)) throw new ApiProblem('not_allowed');
      await audit('invitation.withdrawn', row.id, { details: { email: row.email, role: row.role } });
    },
  }),
];

/** Reads the members of this workspace only, so that it never reveals whether an address has an account elsewhere. */
async function mustBeNew(tx: Tx, workspaceId: string, email: string): Promise<void> {
  const members = await listMembers(tx, workspaceId);
  if (members.some((member) => member.email.toLowerCase() === email.toLowerCase())) throw new ApiProblem('conflict');
}

function tooMany(): ApiProblem {
  const message = `cannot be invited: ${MAX_OPEN} invitations are open; withdraw one first`;
  return new ApiProblem('invalid_request', [{ path: '/email', message }]);
}

function toInvitation(row: InvitationRow) {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
