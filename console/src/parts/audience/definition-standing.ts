/** How a definition stands, in words: its state, its size, and which events are not in it. */
import type { Definition, DefinitionPreview } from '@millrace/contract/control';
import { count, counted, percent } from '../../format/numbers.ts';
import type { StateName } from '../../format/state-name.ts';
import { moment } from '../../format/times.ts';

export type Standing = { state: StateName; word: string };
type Progress = Definition['progress'];

/** The most important state wins: its end, then the way to being live, then missing events. */
export function standingOf(definition: Definition): Standing {
  const { state, edit, firstSyncWaiting, incompleteSince } = definition;
  if (state === 'deleting') return { state: 'skipped', word: 'Being deleted' };
  if (state === 'preparing') return { state: 'waiting', word: 'Preparing' };
  if (state === 'computing') return { state: 'waiting', word: 'Computing' };
  if (incompleteSince !== null) return { state: 'retrying', word: 'Live, incomplete' };
  if (edit !== null) return { state: 'delivered', word: `Live, version ${edit.version} follows` };
  return { state: 'delivered', word: firstSyncWaiting > 0 ? 'Live, first sync' : 'Live' };
}

/** 0 to 1; undefined while the total is not known. */
export function shareOf(progress: Progress): number | undefined {
  if (progress === null || progress.total === null || progress.total === 0) return undefined;
  return Math.min(1, progress.done / progress.total);
}

/** "42.0 %, 4,200 of 10,000 users". */
export function progressWords(progress: Progress): string | undefined {
  if (progress === null) return undefined;
  if (progress.total === 0) return 'about to begin';
  const share = shareOf(progress);
  if (share === undefined || progress.total === null) return `${counted(progress.done, 'user')} so far`;
  return `${percent(share)} %, ${count(progress.done)} of ${counted(progress.total, 'user')}`;
}

/** "8,310 users", or of a trait "8,310 users have a value". */
export function sizeWords({ kind, size }: Pick<Definition, 'kind' | 'size'>): string {
  return kind === 'audience' ? counted(size, 'user') : `${counted(size, 'user has', 'users have')} a value`;
}

/** "about 8,310 users, between 7,770 and 8,850"; without "about" when every profile was counted. */
export function estimateWords({ size, low, high, isExact }: DefinitionPreview): { size: string; range: string } {
  if (isExact || low === high) return { size: count(size), range: 'counted exactly' };
  return { size: `about ${count(size)}`, range: `between ${count(low)} and ${count(high)}` };
}

/** How the estimate was made: "from a sample of 10,000 of 99,900 profiles, in 250 ms". */
export function sampleWords({ profiles, sampled, isExact }: DefinitionPreview): string {
  if (profiles === 0) return 'no profile yet';
  if (isExact) return `all ${counted(profiles, 'profile')}`;
  return `from a sample of ${count(sampled)} of ${counted(profiles, 'profile')}`;
}

/** Which events are not in it: one title and one sentence, or nothing when all are. */
export function completenessWords(
  { completeFrom, incompleteSince = null }: { completeFrom: string | null; incompleteSince?: string | null },
  now: number,
): { title: string; sentence: string } | undefined {
  if (incompleteSince !== null) {
    return {
      title: `Incomplete since ${moment(incompleteSince, now)}.`,
      sentence:
        'Event storage was full, so Millrace removed events before it had counted them. Users may be missing, and some may stay too long.',
    };
  }
  if (completeFrom === null) return undefined;
  return {
    title: `Complete from ${moment(completeFrom, now)}.`,
    sentence: 'Earlier events are not counted: Millrace does not have them. All later ones count.',
  };
}

/** Readers note how far they are every some seconds only: less than this is no lag. */
const NOTED_SECONDS = 15;

/** "up to date", "40 s behind". */
export function lagWords(lagSeconds: number | null): string {
  if (lagSeconds === null) return 'waiting for the first event';
  if (lagSeconds < NOTED_SECONDS) return 'up to date';
  return lagSeconds < 120 ? `${count(lagSeconds)} s behind` : `${count(lagSeconds / 60)} min behind`;
}
