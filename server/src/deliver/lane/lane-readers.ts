import { tierPlace } from '../../stream/layout/lane-places.ts';
import { type LaneNote, noteGroup, positionIn } from './lane-note.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import { readTier, type TierReader, type TierReaderNeeds } from './tier-reader.ts';

/** How long one holder stays with a lane before others get their turn. */
export const SLICE_MS = 20_000;
/** After this time a lane with a group of a newer format is looked at again, by this process or another. */
export const LEFT_FOR_MS = 5_000;
/** A lane that is in use is not looked at more often. */
export const LEAST_PAUSE_MS = 250;

/** A reader for each tier of a lane, from the position that the last holder noted. */
export function openReaders(
  destinationId: string,
  note: LaneNote,
  {
    lanes,
    schedule,
    counts,
    uptimeMs,
  }: Pick<TierReaderNeeds, 'lanes' | 'uptimeMs'> & { schedule: RetrySchedule; counts: ReadonlyMap<number, number> },
): TierReader[] {
  const seen = (group: Parameters<typeof noteGroup>[1]) => noteGroup(note, group);
  return [...counts].map(([tier, groups]) =>
    readTier(tier, positionIn(note, tier), {
      lanes,
      destinationId,
      groups,
      seen,
      longestMs: schedule.longestMs(tierPlace(tier, 0).tier),
      uptimeMs,
    }),
  );
}
