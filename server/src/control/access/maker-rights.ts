import { makersOf, tokensMadeBy } from '../../store/makers.ts';
import type { Tx } from '../../store/open-store.ts';
import { deleteToken } from '../../store/tokens.ts';
import { isAtMost, type RoleName } from './permissions.ts';

/**
 * The role that something made by `createdBy` has now: its own, or a lower one that one of its makers has by now. Undefined when one
 * of them is gone: then it has ended too.
 */
export async function roleNow(
  tx: Tx,
  { workspaceId, createdBy, role }: { workspaceId: string; createdBy: string; role: RoleName },
): Promise<RoleName | undefined> {
  let least = role;
  for (const maker of await makersOf(tx, workspaceId, createdBy)) {
    if (maker.kind === 'missing') return undefined;
    const its = maker.role as RoleName;
    if (isAtMost(its, least)) least = its;
  }
  return least;
}

/** Revokes the tokens that a user or a token made, with those that they made. Returns their ids, for the audit log. */
export async function revokeMadeBy(tx: Tx, workspaceId: string, id: string): Promise<string[]> {
  const ids = await tokensMadeBy(tx, workspaceId, id);
  for (const each of ids) await deleteToken(tx, workspaceId, each);
  return ids;
}
