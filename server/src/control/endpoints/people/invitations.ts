import { CreatedInvitation, Invitations, NewInvitation, PageQuery } from '@millrace/contract/control';
import {
  countInvitations,
  deleteInvitation,
  insertInvitation,
  type InvitationRow,
  listInvitations,
  lockInvitationOf,
} from '../../../store/invitations.ts';
import { countMailsOfDay } from '../../../store/mails.ts';
import { listMembers } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { mustBeOursToGive } from './members.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { isAtMost, type RoleName } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { findWorkspace } from '../../../store/workspaces.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { type Route, route } from '../../http/route.ts';
import { addMail } from '../../mail/add-mail.ts';
import { invitationMail } from '../../mail/write-mail.ts';
import { hashOfSecret, makeSecret } from '../../access/secret-text.ts';

const WRITE = { permission: 'members:write' } as const;
const VALID_MS = 72 * 3_600_000;
const MAX_OPEN = 100;
/** Of one workspace, so that it cannot have us flood mailboxes of strangers. */
const MAX_MAILS_OF_DAY = 200;

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
    summary: 'Invites a person with a link that works once, for 72 hours: sent by mail, or shown once by this answer',
    body: NewInvitation,
    answer: CreatedInvitation,
    status: 201,
    ...WRITE,
    async handle({ tx, actor, body, audit }, needs) {
      const { now, mail } = needs;
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
      if ((await countInvitations(tx, workspaceId)) > MAX_OPEN) {
        throw cannotBeInvited(`${MAX_OPEN} invitations are open; withdraw one first`);
      }
      const invitation = toInvitation(found(row));
      const details = { email: body.email, role: body.role, expiresAt: invitation.expiresAt };
      await audit('member.invited', invitation.id, { details });
      await mailInvitation(tx, { workspaceId, row: found(row), secret }, needs);
      const shown = mail === undefined ? { token: secret, link: `/join#token=${secret}` } : {};
      return { ...invitation, sentByMail: mail !== undefined, ...shown };
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

type Invited = { workspaceId: string; row: InvitationRow; secret: string };

async function mailInvitation(tx: Tx, { workspaceId, row, secret }: Invited, needs: ControlNeeds): Promise<void> {
  const { mail, keyRing } = needs;
  if (mail === undefined) return;
  if ((await countMailsOfDay(tx, workspaceId)) >= MAX_MAILS_OF_DAY) {
    throw cannotBeInvited(`the workspace has sent ${MAX_MAILS_OF_DAY} mails in a day; try again tomorrow`);
  }
  const { name } = found(await findWorkspace(tx, workspaceId));
  const text = invitationMail({ ...mail, secret, workspace: name, role: row.role });
  const about = { kind: 'invitation', workspaceId, to: row.email, expiresAt: row.expires_at };
  await addMail(tx, { ...about, ...text }, keyRing);
}

function cannotBeInvited(why: string): ApiProblem {
  return new ApiProblem('invalid_request', [{ path: '/email', message: `cannot be invited: ${why}` }]);
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
