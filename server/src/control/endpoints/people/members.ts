import { Member, MemberChange, Members } from '@millrace/contract/control';
import {
  countOwners,
  deleteMember,
  findMember,
  listMembers,
  type MemberRow,
  setMemberRole,
} from '../../../store/members.ts';
import type { Actor } from '../../access/actor.ts';
import { revokeMadeBy } from '../../access/maker-rights.ts';
import { isAtMost, type RoleName } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { recordChange } from '../../http/audit-change.ts';
import { type Asked, type Route, route } from '../../http/route.ts';

const WRITE = { permission: 'members:write' } as const;

export const memberRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/members',
    summary: 'The people of the workspace',
    permission: 'members:read',
    answer: Members,
    status: 200,
    async handle({ tx, actor }) {
      return { items: (await listMembers(tx, actor.workspaceId)).map(toMember) };
    },
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/members/:userId',
    summary: "Changes somebody's role",
    body: MemberChange,
    answer: Member,
    status: 200,
    ...WRITE,
    async handle(asked, needs) {
      const { tx, actor, body } = asked;
      const before = await findOther(asked);
      mustBeOursToGive(body.role, actor);
      if (body.role !== 'owner') await mustLeaveAnOwner(asked, before);
      const member = { workspaceId: actor.workspaceId, userId: before.user_id, role: body.role };
      await setMemberRole(tx, member);
      const details = { from: before.role, to: body.role };
      await recordChange(asked, { action: 'member.changed', objectId: before.user_id, details }, needs);
      return toMember(found(await findMember(tx, member)));
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/members/:userId',
    summary: 'Takes somebody out of the workspace, and revokes the tokens that they made',
    status: 204,
    ...WRITE,
    async handle(asked, needs) {
      const { tx, actor } = asked;
      const before = await findOther(asked);
      await mustLeaveAnOwner(asked, before);
      await deleteMember(tx, { workspaceId: actor.workspaceId, userId: before.user_id });
      const revokedTokens = await revokeMadeBy(tx, actor.workspaceId, before.user_id);
      const details = { email: before.email, role: before.role, revokedTokens };
      await recordChange(asked, { action: 'member.removed', objectId: before.user_id, details }, needs);
    },
  }),
];

/** An admin is not above an owner. */
async function findOther({ tx, actor, params }: Asked): Promise<MemberRow> {
  const key = { workspaceId: actor.workspaceId, userId: params['userId'] ?? '' };
  const member = found(await findMember(tx, key));
  if (!isAtMost(member.role as RoleName, actor.role)) throw new ApiProblem('not_allowed');
  return member;
}

/** A narrowed token makes no members: a member's role is not narrowed, so it would hand out more than it has. */
export function mustBeOursToGive(role: RoleName, { role: own, scopes }: Actor): void {
  if (scopes !== undefined || !isAtMost(role, own)) throw new ApiProblem('not_allowed');
}

async function mustLeaveAnOwner({ tx, actor }: Asked, { role }: MemberRow): Promise<void> {
  if (role === 'owner' && (await countOwners(tx, actor.workspaceId)) <= 1) throw new ApiProblem('last_owner');
}

function toMember({ user_id: userId, email, name, role, created_at }: MemberRow) {
  return { userId, email, name, role, createdAt: created_at.toISOString() };
}
