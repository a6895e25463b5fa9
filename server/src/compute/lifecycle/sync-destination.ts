import { addFirstSync } from '../../store/compute/transition-outbox.ts';
import type { Tx } from '../../store/open-store.ts';
import { moveSync, readSync, type SyncMark } from '../../store/definitions/life-jobs.ts';
import { type JobNeeds, JobEnded, untilReadersKnow } from './life-needs.ts';

/**
 * Tells one destination all members, with the sequences and message ids that other destinations know: a receiver that has got one before
 * recognises it by its `webhook-id`, as it does with a replay.
 */
export async function syncDestination(mark: SyncMark, needs: JobNeeds): Promise<void> {
  const { changed } = await needs.store.asSystem((tx) => syncOf(tx, mark));
  // A reader that does not know the destination yet queues nothing: it could make a member that the sync has passed already.
  await untilReadersKnow(changed, needs);
  for (let isMore = true; isMore; ) {
    await needs.turn();
    isMore = await needs.step(async (_, sql) => {
      const sync = await syncOf(sql, mark);
      const page = { after: sync.afterKey ?? undefined, limit: needs.portions.rows, now: needs.side.now() };
      const last = await addFirstSync(sql, mark, page);
      await moveSync(sql, mark, last);
      return last !== undefined;
    });
    needs.changed();
  }
}

async function syncOf(tx: Tx, mark: SyncMark): Promise<{ afterKey: string | null; changed: number }> {
  const sync = await readSync(tx, mark);
  if (sync === undefined) throw new JobEnded('the sync is over');
  return sync;
}
