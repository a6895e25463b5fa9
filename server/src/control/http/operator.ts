import { findFirstWorkspace } from '../../store/workspaces.ts';
import type { ControlNeeds } from './control-needs.ts';
import { ApiProblem } from '../problems/problems.ts';
import type { Actor } from '../access/actor.ts';

/**
 * The operator of an installation is an owner of its first workspace. Only the operator acts on things that belong to no
 * workspace, or to several.
 */
export async function mustBeOperator(actor: Actor, { store }: Pick<ControlNeeds, 'store'>) {
  const first = await store.asSystem(findFirstWorkspace);
  if (first?.id !== actor.workspaceId) throw new ApiProblem('not_allowed');
}
