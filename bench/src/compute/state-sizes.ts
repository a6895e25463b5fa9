import type { Plan } from '../../../server/src/compute/fold/plan.ts';
import type { StoredProfile } from '../../../server/src/compute/profiles/profile-store.ts';
import { decodeState, encodeState, type ProfileState } from '../../../server/src/compute/state/profile-state.ts';
import { noTiles } from '../../../server/src/compute/state/tiles.ts';
import { seenIds } from '../../../server/src/compute/state/seen-ids.ts';

/** Bytes a profile on average, as a whole and by part: each part is what a state without it saves. */
export type StateSizes = Record<
  'whole' | 'measures' | 'held' | 'seen' | 'tiles' | 'traits' | 'measureCount' | 'heldCount' | 'tileCount',
  number
>;

export function sizesOf(profiles: readonly StoredProfile[], plan: Plan): StateSizes {
  const sums: StateSizes = {
    whole: 0,
    measures: 0,
    held: 0,
    seen: 0,
    tiles: 0,
    traits: 0,
    measureCount: 0,
    heldCount: 0,
    tileCount: 0,
  };
  for (const { state: bytes } of profiles) {
    const state = decodeState(bytes);
    const without = (part: Partial<ProfileState>) => bytes.length - encodeState({ ...state, ...part }).length;
    sums.whole += bytes.length;
    sums.measures += without({ records: [] });
    sums.held += without({ held: [] });
    sums.seen += without({ seen: seenIds() });
    sums.tiles += without({ tiles: noTiles() });
    sums.traits += without({ traits: new Map() });
    sums.measureCount += state.records.filter(({ slot }) => plan.measures.has(slot)).length;
    sums.heldCount += state.held.length;
    sums.tileCount += state.tiles.list.length;
  }
  const average = Object.entries(sums).map(([name, sum]) => [name, Math.round((100 * sum) / profiles.length) / 100]);
  return Object.fromEntries(average) as StateSizes;
}
