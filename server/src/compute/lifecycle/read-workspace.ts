/**
 * Before the first definition of a workspace, none of its events were folded. This folds those that are still stored: ids, traits, groups,
 * tiles. Readers do the same with new ones meanwhile, and message ids keep the two from counting one twice. The definitions begin when
 * this is done, because a measure that began before would not recognise a repeat of an older event.
 */
import { changeDefinitions } from '../../store/definitions/definitions.ts';
import { workspaceStarts } from '../../store/definitions/definition-changes.ts';
import {
  clearProfiles,
  endClearing,
  markRead,
  moveWorkspace,
  readWorkspaceWork,
  type WorkspaceWork,
} from '../../store/definitions/life-endings.ts';
import type { Tx } from '../../store/open-store.ts';
import { type JobNeeds, JobEnded, untilAll, untilReadersKnow } from './life-needs.ts';
import { type PastBatch, readPast } from './read-past.ts';

export async function readWorkspacePast(workspaceId: string, needs: JobNeeds): Promise<void> {
  const { store } = needs;
  const readStarts = () => store.asSystem((tx) => workspaceStarts(tx, workspaceId));
  await untilAll(needs, async (names) => {
    await store.asSystem((tx) => workIn(tx, workspaceId, 'reading'));
    const begun = new Set((await readStarts()).map(({ stream }) => stream));
    return names.every((name) => begun.has(name));
  });
  const { readThrough } = await store.asSystem((tx) => workIn(tx, workspaceId, 'reading'));
  for await (const batch of readPast({ workspaceId, starts: await readStarts(), readThrough }, needs)) {
    await foldPortion(workspaceId, batch, needs);
  }
  await needs.step(async (_, sql) => {
    await workIn(sql, workspaceId, 'reading');
    await moveWorkspace(sql, await changeDefinitions(sql), workspaceId, 'ready');
  });
  needs.changedDefinitions();
}

async function foldPortion(workspaceId: string, batch: PastBatch, needs: JobNeeds): Promise<void> {
  const { stream, requests, sequence, storedAt, missingUntil } = batch;
  const fold = (): Promise<'done' | 'again'> =>
    needs.step(async (tx, sql) => {
      await workIn(sql, workspaceId, 'reading');
      if (requests.length > 0 && (await needs.folding.foldRequests(tx, requests)) === 'again') return 'again';
      await markRead(sql, workspaceId, { stream, sequence, storedAt, completeFrom: missingUntil });
      return 'done';
    });
  do await needs.folding.prepare(requests);
  while ((await fold()) === 'again');
}

async function workIn(tx: Tx, workspaceId: string, state: WorkspaceWork['state']): Promise<WorkspaceWork> {
  const work = await readWorkspaceWork(tx, workspaceId);
  if (work?.state !== state) throw new JobEnded(`the workspace is not ${state} any more`);
  return work;
}

/** After the last definition: profiles are kept for definitions, and for nothing else. */
export async function clearWorkspace(workspaceId: string, needs: JobNeeds): Promise<void> {
  const { changed } = await needs.store.asSystem((tx) => workIn(tx, workspaceId, 'clearing'));
  // A reader that does not know yet might still write one.
  await untilReadersKnow(changed, needs);
  for (let isMore = true; isMore; await needs.turn()) {
    isMore = await needs.step(async (_, sql) => {
      await workIn(sql, workspaceId, 'clearing');
      return clearProfiles(sql, workspaceId, needs.portions.rows);
    });
  }
  await needs.step(async (_, sql) => {
    await workIn(sql, workspaceId, 'clearing');
    await endClearing(sql, workspaceId);
  });
  needs.changedDefinitions();
}
