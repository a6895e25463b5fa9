/** Evaluates a version that has become live for every profile. Readers do the same with profiles that have events meanwhile. */
import { markPhase } from '../../store/definitions/life-jobs.ts';
import { pageOfProfiles } from '../../store/compute/read-profiles.ts';
import { countProfiles } from '../../store/compute/sizes.ts';
import type { Tx } from '../../store/open-store.ts';
import { changedByScan, evaluateChanged } from '../fold/advance-profiles.ts';
import type { ProfileKey } from '../profiles/profile-key.ts';
import type { FoldTx, ProfileChanges, StoredProfile, Transition, VersionName } from '../profiles/profile-store.ts';
import { foldedUpTo, type JobNeeds, JobEnded } from './life-needs.ts';
import { keyShare } from './key-share.ts';

export type ScanOf = VersionName & { workspaceId: string; after: ProfileKey | undefined };

/** Pages without a change that are scanned again, without an effect, after a crash: a commit for each of them would wait for the disk. */
const UNMARKED_PAGES = 10;

export async function scanProfiles({ workspaceId, after, ...name }: ScanOf, needs: JobNeeds): Promise<void> {
  const read = (from: ProfileKey | undefined) =>
    needs.store.asSystem((tx) => pageOfProfiles(tx, workspaceId, { after: from, limit: needs.portions.read }));
  const total = await needs.store.asSystem((tx) => countProfiles(tx, workspaceId));
  let unmarked = 0;
  for (let reading = read(after); ; ) {
    const page = await reading;
    const last = page.at(-1)?.key;
    if (last === undefined) return;
    // The next page comes while this one is evaluated.
    reading = read(last);
    reading.catch(() => undefined);
    const mark = async (sql: Tx) => {
      const done = Math.round(total * keyShare(last));
      const isWanted = await markPhase(sql, name, { phase: 'scan', afterKey: last, done, total });
      if (!isWanted) throw new JobEnded('the version is not scanned any more');
    };
    unmarked = (await scanPage(page, mark, needs)) ? 0 : unmarked + 1;
    if (unmarked === UNMARKED_PAGES) {
      await needs.step((_, sql) => mark(sql));
      unmarked = 0;
    }
    await needs.turn();
  }
}

type Mark = (sql: Tx) => Promise<void>;

/** Whether something was written, with the mark. */
async function scanPage(page: readonly StoredProfile[], mark: Mark, needs: JobNeeds): Promise<boolean> {
  const now = await foldedUpTo(needs);
  const keys = await changedOf(page, now, needs);
  const size = needs.portions.written;
  for (let at = 0; at < keys.length; at += size) {
    const isLast = at + size >= keys.length;
    await scanPortion({ keys: keys.slice(at, at + size), now }, isLast ? mark : undefined, needs);
    await needs.turn();
  }
  return keys.length > 0;
}

/** By the plans of a transaction that has begun after the page was read. */
function changedOf(page: readonly StoredProfile[], now: number, needs: JobNeeds): Promise<ProfileKey[]> {
  return needs.step(() => Promise.resolve(changedByScan(page, needs.plans.planOf, { now })));
}

type ScanPortion = { keys: readonly ProfileKey[]; now: number };

/** A profile that was merged since then was evaluated by that. */
async function scanPortion(portion: ScanPortion, mark: Mark | undefined, needs: JobNeeds): Promise<void> {
  const transitions = await needs.step(async (tx, sql) => {
    const made = await evaluateKeys(tx, portion, needs);
    await mark?.(sql);
    return made;
  });
  needs.folding.count({ transitions, fates: {}, evictedIds: 0 });
  if (transitions.length > 0) needs.changed();
}

export async function evaluateKeys(
  tx: FoldTx,
  { keys, now }: ScanPortion,
  { plans }: Pick<JobNeeds, 'plans'>,
): Promise<readonly Transition[]> {
  const { profiles } = await tx.load(keys, (links) => keys.filter((key) => !links.has(key)));
  const changes: ProfileChanges = evaluateChanged([...profiles.values()], plans.planOf, { now, isFirstSync: true });
  if (changes.profiles.length > 0) await tx.write(changes);
  return changes.transitions;
}
