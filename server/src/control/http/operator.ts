import { isOperator, type OperatorName } from '../../store/operators.ts';
import type { Tx } from '../../store/open-store.ts';
import type { ControlNeeds } from './control-needs.ts';
import { ApiProblem } from '../problems/problems.ts';

/** A session of single sign-on is none: the provider of one workspace must not act on all of them. */
type AskingOperator = OperatorName & { isBound?: boolean };

/**
 * Operators run the installation. Only they act on things that belong to no workspace, or to several; the contents of a workspace
 * are open to its members alone. store/operators.ts says who they are.
 */
export function mustBeOperator(actor: AskingOperator, { store }: Pick<ControlNeeds, 'store'>): Promise<void> {
  return store.asSystem((tx) => mustBeOperatorIn(tx, actor));
}

/** The same inside of a transaction that sees all workspaces. */
export async function mustBeOperatorIn(tx: Tx, { kind, id, isBound = false }: AskingOperator): Promise<void> {
  if (isBound || !(await isOperator(tx, { kind, id }))) throw new ApiProblem('not_allowed');
}
