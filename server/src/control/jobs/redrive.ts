import type { NewRedrive } from '@millrace/contract/control';
import { deliveryOfLetter } from '../../domain/dead-letter.ts';
import { allDestinationIds } from '../../store/destinations.ts';
import type { JobRow, JobStep } from '../../store/jobs.ts';
import type { Store } from '../../store/open-store.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';
import type { LaneFeeder } from './feed-lane.ts';
import type { JobWork } from './run-jobs.ts';
import { type NumberedLetter, type LetterPlace, type Scanned, scanLetters } from './scan-letters.ts';

export type RedriveNeeds = { store: Store; side: ControlSide; feeder: LaneFeeder; now(): Date };

/** The job first counts all letters, then moves them to their lanes. Letters that arrive meanwhile stay. */
type Position = { phase?: 'redrive'; at?: LetterPlace; upTo?: number };

const COUNT_AT_ONCE = 5_000;
const REMOVE_AT_ONCE = 64;

/** Retries dead letters: appends to the lane first and removes the letter then, so that a crash repeats and never loses. */
export function redriveWork(needs: RedriveNeeds): JobWork {
  return async (job, most) => {
    const position = job.position as Position;
    const upTo = position.upTo ?? (await needs.side.deadLetters.last());
    const { phase, at } = position;
    const scanned = await scan(job, { at, upTo, most: phase === undefined ? COUNT_AT_ONCE : most }, needs);
    const next = { upTo, ...(scanned.next === undefined ? {} : { at: scanned.next }) };
    if (phase === undefined) {
      const isCounted = scanned.next === undefined;
      return { position: isCounted ? { phase: 'redrive', upTo } : next, counted: scanned.found.length };
    }
    const problem = await replayLetters(job, scanned.found, needs);
    if (problem !== undefined) return { position, problem };
    const isEnd = scanned.next === undefined;
    const step: JobStep = { position: { phase, ...next }, done: scanned.found.length };
    return isEnd ? { ...step, end: 'done' } : step;
  };
}

type Part = { at: LetterPlace | undefined; upTo: number; most: number };

async function scan(job: JobRow, part: Part, { store, side }: RedriveNeeds): Promise<Scanned> {
  const { destinationId, ...filter } = job.asked as NewRedrive;
  const own = await store.asSystem((tx) => allDestinationIds(tx, job.workspace_id));
  const wanted = destinationId === undefined ? await withLetters(own, side) : own.filter((id) => id === destinationId);
  return scanLetters(side.deadLetters, { destinationIds: wanted, filter: { ...filter, ...until(job, side) }, ...part });
}

/** The last sequence bounds one cell; over several, the time of the job does. */
function until({ asked, created_at: createdAt }: JobRow, { each }: ControlSide): { to?: string } {
  const { to } = asked as NewRedrive;
  if (each === undefined || (to !== undefined && Date.parse(to) < createdAt.getTime())) return {};
  return { to: createdAt.toISOString() };
}

export async function withLetters(ids: readonly string[], { deadLetters }: Pick<ControlSide, 'deadLetters'>) {
  const counts = await deadLetters.counts();
  return ids.filter((id) => counts.has(id));
}

/** Returns the problem when a lane did not take some: the step repeats then, and receivers recognise duplicates by webhook-id. */
async function replayLetters(
  { id: replayId }: JobRow,
  found: readonly NumberedLetter[],
  { side, feeder, now }: RedriveNeeds,
): Promise<string | undefined> {
  for (const [destinationId, letters] of Map.groupBy(found, ({ letter }) => letter.destinationId)) {
    const replay = { replayId, now: now().getTime() };
    const fed = await feeder.feed(
      destinationId,
      letters.map(({ letter }) => deliveryOfLetter(letter, replay)),
    );
    if (fed !== 'stored') return fed === 'full' ? `the lane of ${destinationId} is full` : 'NATS does not answer';
    for (let start = 0; start < letters.length; start += REMOVE_AT_ONCE) {
      const some = letters.slice(start, start + REMOVE_AT_ONCE);
      await Promise.all(some.map(({ sequence }) => side.deadLetters.remove(sequence)));
    }
  }
  return undefined;
}
