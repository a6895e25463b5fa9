import { Member, MemberChange, Members } from '@millrace/contract/control';
import {
  countOtherOwners,
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
import { type ApiRequest, type Route, route } from '../../http/route.ts';

const WRITE = { permission: 'members:write' } as const;

export const memberRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/members',
    summary: 'The members of the workspace',
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
    summary: 'Changes the role of a member',
    body: MemberChange,
    answer: Member,
    status: 200,
    ...WRITE,
    async handle(request) {
      const { tx, actor, body, audit } = request;
      const before = await findOther(request);
      mustBeOursToGive(body.role, actor);
      if (body.role !== 'owner') await mustLeaveAnOwner(request, before);
      const member = { workspaceId: actor.workspaceId, userId: before.user_id, role: body.role };
      await setMemberRole(tx, member);
      await audit('member.changed', before.user_id, { details: { from: before.role, to: body.role } });
      return toMember(found(await findMember(tx, member)));
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/members/:userId',
    summary: 'Removes a member from the workspace, and revokes the tokens that they made',
    status: 204,
    ...WRITE,
    async handle(request) {
      const { tx, actor, audit } = request;
      const before = await findOther(request);
      await mustLeaveAnOwner(request, before);
      await deleteMember(tx, { workspaceId: actor.workspaceId, userId: before.user_id });
      const revokedTokens = await revokeMadeBy(tx, actor.workspaceId, before.user_id);
      const details = { email: before.email, role: before.role, revokedTokens };
      await audit('member.removed', before.user_id, { details });
    },
  }),
];

/** An admin is not above an owner. */
export async function findOther({ tx, actor, params }: ApiRequest<{ userId: string }>): Promise<MemberRow> {
  const member = found(await findMember(tx, { workspaceId: actor.workspaceId, userId: params.userId }));
  if (!isAtMost(member.role as RoleName, actor.role)) throw new ApiProblem('not_allowed');
  return member;
}

/** A token with scopes cannot grant a role: a role has no scopes, so the token would grant more than it has. */
export function mustBeOursToGive(role: RoleName, { role: own, scopes }: Actor): void {
  if (scopes !== undefined || !isAtMost(role, own)) throw new ApiProblem('not_allowed');
}

async function mustLeaveAnOwner({ tx, actor: { workspaceId } }: ApiRequest, member: MemberRow): Promise<void> {
  const { role, user_id: userId } = member;
  if (role === 'owner' && (await countOtherOwners(tx, { workspaceId, userId })) === 0)
    throw new ApiProblem('last_owner');
}

function toMember({ user_id: userId, email, name, role, created_at, ...facts }: MemberRow) {
  const { has_second_factor: hasSecondFactor, is_managed: isManaged, break_glass: isBreakGlass } = facts;
  return { userId, email, name, role, hasSecondFactor, isManaged, isBreakGlass, createdAt: created_at.toISOString() };
}
