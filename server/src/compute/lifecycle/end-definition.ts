/**
 * The end of a definition. Members that exit are evaluated to false (null for traits) like by any other change, and told; those that leave
 * are forgotten. Its history goes when everything is sent; the readers drop its measures with the next event of a profile.
 */
import {
  type Deletion,
  endDeletion,
  forgetHistory,
  forgetMembers,
  forgetUnsent,
  hasUnsent,
  readDeletion,
  someMembers,
} from '../../store/definitions/life-endings.ts';
import type { Tx } from '../../store/open-store.ts';
import type { DefinitionNumber, FoldTx, Transition } from '../profiles/profile-store.ts';
import { foldedUpTo, type JobNeeds, JobEnded, JobWaiting, untilReadersKnow } from './life-needs.ts';
import { evaluateKeys } from './scan-profiles.ts';

export type Ending = { workspaceId: string; definition: DefinitionNumber };

export async function endDefinition({ workspaceId, definition }: Ending, needs: JobNeeds): Promise<void> {
  const { revised, membersGo } = await needs.store.asSystem((tx) => deletionOf(tx, definition));
  // From here on no reader makes a member of anyone.
  await untilReadersKnow(revised, needs);
  while (await removeMembers(definition, needs)) await needs.turn();
  if (membersGo === 'leave') await inPortions((sql) => forgetUnsent(sql, definition, 10 * needs.portions.rows), needs);
  if (await needs.store.asSystem((tx) => hasUnsent(tx, definition)))
    throw new JobWaiting('something is still to be sent');
  await inPortions(async (sql) => {
    await deletionOf(sql, definition);
    return forgetHistory(sql, definition, needs.portions.rows);
  }, needs);
  await needs.step(async (_, sql) => {
    await deletionOf(sql, definition);
    await endDeletion(sql, workspaceId, definition);
  });
  needs.changedDefinitions();
}

/** Until a portion was the last one. */
async function inPortions(portion: (sql: Tx) => Promise<boolean>, needs: JobNeeds): Promise<void> {
  for (let isMore = true; isMore; await needs.turn()) isMore = await needs.step((_, sql) => portion(sql));
}

/** False when there are none. */
async function removeMembers(definition: DefinitionNumber, needs: JobNeeds): Promise<boolean> {
  const now = await foldedUpTo(needs);
  const { keys, transitions } = await needs.step(async (tx, sql) => {
    const deletion = await deletionOf(sql, definition);
    const members = await someMembers(sql, definition, needs.portions.written);
    return { keys: members, transitions: await remove(tx, sql, { ...deletion, definition, members, now, needs }) };
  });
  needs.folding.count({ transitions, fates: {}, evictedIds: 0 });
  if (transitions.length > 0) needs.changed();
  return keys.length > 0;
}

type Removal = Deletion & { definition: DefinitionNumber; members: string[]; now: number; needs: JobNeeds };

async function remove(tx: FoldTx, sql: Tx, removal: Removal): Promise<readonly Transition[]> {
  const { membersGo, definition, members, now, needs } = removal;
  if (members.length === 0) return [];
  const transitions = membersGo === 'exit' ? await evaluateKeys(tx, { keys: members, now }, needs) : [];
  await forgetMembers(sql, definition, members);
  return transitions;
}

async function deletionOf(tx: Tx, definition: DefinitionNumber): Promise<Deletion> {
  const deletion = await readDeletion(tx, definition);
  if (deletion === undefined) throw new JobEnded('the definition is deleted');
  return deletion;
}
