/** Whether a link to a new password may pass through the hands of the member who makes it, as it does without mail. */
import { membershipsOf } from '../../../store/members.ts';
import { isOperator } from '../../../store/operators.ts';
import type { Tx } from '../../../store/open-store.ts';
import { roleNow } from '../../access/maker-rights.ts';
import type { RoleName } from '../../access/permissions.ts';

/** `isBound`: a session of single sign-on makes the link, which is no operator. */
type HandOver = { userId: string; makerId: string; isBound?: boolean | undefined };

/**
 * Why not; undefined if it may. The link opens the whole account, so its maker must have every right of the account. Control asks when it
 * makes the link and again when the link is used, in a transaction of the system.
 */
export async function handOverProblem(tx: Tx, { userId, makerId, isBound = false }: HandOver) {
  const [member, ...others] = await membershipsOf(tx, userId);
  if (member === undefined || others.length > 0) return `the member has other workspaces too: ${OPERATOR_MAKES}`;
  const role = member.role as RoleName;
  const { workspace_id: workspaceId } = member;
  if ((await roleNow(tx, { workspaceId, createdBy: makerId, role })) !== role)
    return 'the role of the member is above yours';
  if (!(await isOperator(tx, { kind: 'user', id: userId }))) return undefined;
  const kind = makerId.startsWith('tok_') ? 'token' : 'user';
  if (!isBound && (await isOperator(tx, { kind, id: makerId }))) return undefined;
  return `the member runs the installation: ${OPERATOR_MAKES}`;
}

const OPERATOR_MAKES = 'the operator makes the link with `millrace users reset-link`';

/** Made by a member, and not by the operator's command or by the person's own request. */
export function isOfMember(createdBy: string): boolean {
  return /^(?:usr|tok)_/.test(createdBy);
}
