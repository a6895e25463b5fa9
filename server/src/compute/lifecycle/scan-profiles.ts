/** Evaluates a version that has become live for every profile. Readers do the same with profiles that have events meanwhile. */
import { markPhase } from '../../store/definitions/life-jobs.ts';
import { pageOfProfiles } from '../../store/compute/read-profiles.ts';
import { countProfiles } from '../../store/compute/sizes.ts';
import { changedByScan, evaluateChanged } from '../fold/advance-profiles.ts';
import type { ProfileKey } from '../profiles/profile-key.ts';
import type { FoldTx, ProfileChanges, StoredProfile, Transition, VersionName } from '../profiles/profile-store.ts';
import { foldedUpTo, type JobNeeds, JobEnded } from './life-needs.ts';
import { keyShare } from './key-share.ts';

export type ScanOf = VersionName & { workspaceId: string; after: ProfileKey | undefined };

export async function scanProfiles({ workspaceId, after, ...name }: ScanOf, needs: JobNeeds): Promise<void> {
  const read = (from: ProfileKey | undefined) =>
    needs.store.asSystem((tx) => pageOfProfiles(tx, workspaceId, { after: from, limit: needs.portions.read }));
  const total = await needs.store.asSystem((tx) => countProfiles(tx, workspaceId));
  for (let reading = read(after); ; ) {
    const page = await reading;
    const last = page.at(-1)?.key;
    if (last === undefined) return;
    // The next page comes while this one is evaluated.
    reading = read(last);
    reading.catch(() => undefined);
    await scanPage(page, needs);
    const done = Math.round(total * keyShare(last));
    await needs.step(async (_, sql) => {
      const isWanted = await markPhase(sql, name, { phase: 'scan', afterKey: last, done, total });
      if (!isWanted) throw new JobEnded('the version is not scanned any more');
    });
    await needs.turn();
  }
}

async function scanPage(page: readonly StoredProfile[], needs: JobNeeds): Promise<void> {
  const now = await foldedUpTo(needs);
  for (const keys of portions(await changedOf(page, now, needs), needs.portions.written)) {
    await scanPortion({ keys, now }, needs);
    await needs.turn();
  }
}

/** By the plans of a transaction that has begun after the page was read. */
function changedOf(page: readonly StoredProfile[], now: number, needs: JobNeeds): Promise<ProfileKey[]> {
  return needs.step(() => Promise.resolve(changedByScan(page, needs.plans.planOf, { now })));
}

function* portions(keys: readonly ProfileKey[], size: number): Generator<readonly ProfileKey[]> {
  for (let at = 0; at < keys.length; at += size) yield keys.slice(at, at + size);
}

type ScanPortion = { keys: readonly ProfileKey[]; now: number };

/** A profile that was merged since then was evaluated by that. */
async function scanPortion({ keys, now }: ScanPortion, needs: JobNeeds): Promise<void> {
  const transitions = await needs.step((tx) => evaluateKeys(tx, { keys, now }, needs));
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
