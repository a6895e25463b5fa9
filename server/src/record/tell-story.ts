import type { ReplayPart } from '@millrace/contract/control';
import type { DeliveryRow } from '../store/deliveries.ts';
import type { AttemptRow } from '../store/attempts.ts';
import type { LaneHealth } from '../domain/lane-health.ts';
import type { OutcomeAnswer } from '../domain/outcome.ts';
import { sentenceOf } from './fold-outcome.ts';

export type StoryFacts = {
  row: DeliveryRow;
  attempts: readonly AttemptRow[];
  lane: LaneHealth | undefined;
  /** The replays that it was part of, oldest first. */
  replays?: readonly ReplayPart[];
};

const ERASED = 'Its user was erased since: whose it was and what receivers answered is not kept.';

/** The story of one delivery in sentences: its attempts, its replays, its end or the lane it waits in. */
export function tellStory(facts: StoryFacts): string[] {
  const { row } = facts;
  const erased = row.is_erased && row.reason !== 'erased' ? [ERASED] : [];
  if (row.state === 'skipped') return [skipSentence(row), ...erased];
  return [...attemptSentences(facts), ...sampledOut(facts), ...endSentences(facts), ...erased];
}

type SkippedRow = Pick<DeliveryRow, 'reason' | 'type' | 'name' | 'rule'>;

/** The rules of routing, in the order in which they apply. */
const SKIPS: Readonly<Record<string, (row: SkippedRow) => string>> = {
  erased: () => 'Not sent: its user was erased before it could be.',
  suppressed: () => 'Not sent: the user has asked to be forgotten, and their calls are dropped.',
  destination_disabled: () => 'Not sent: the destination was not enabled.',
  integrations_map: () => "Not sent: the call's own integrations map turns this kind of destination off.",
  blocked_event: ({ name }) => `Not sent: the event "${name ?? ''}" is blocked in the source's schema.`,
  type_not_accepted: ({ type }) => `Not sent: this kind of destination does not take ${type} calls.`,
  filtered: ({ rule }) =>
    rule === null
      ? "Not sent: the destination's filter does not let it through."
      : `Not sent: the destination's filter asks for events where ${rule}.`,
};

/** Why a delivery was not made. */
export function skipSentence(row: SkippedRow): string {
  return SKIPS[row.reason ?? '']?.(row) ?? `Not sent: ${row.reason ?? 'for a reason that was not recorded'}.`;
}

/** Each replay before its attempts; a replay without recorded attempts at the end. */
function attemptSentences({ row, attempts, replays = [] }: StoryFacts): string[] {
  const untold = new Map(replays.map((replay) => [replay.id, replay]));
  const tell = (id: string | null) => {
    const replay = id === null ? undefined : untold.get(id);
    if (replay === undefined) return [];
    untold.delete(replay.id);
    return [replaySentence(replay)];
  };
  const sentences = attempts.flatMap((attempt) => [...tell(attempt.replay_id), attemptSentence(attempt, row)]);
  return [...sentences, ...[...untold.values()].map(replaySentence)];
}

function replaySentence({ id, kind, startedAt, startedBy }: ReplayPart): string {
  const by = startedBy === null ? '' : ` by ${startedBy.kind} ${startedBy.id}`;
  return `${kind === 'replay' ? 'Replayed' : 'Taken out of the dead letters to be sent again'}: ${id}, started at ${startedAt}${by}.`;
}

function attemptSentence({ attempt, at, outcome, answers }: AttemptRow, row: DeliveryRow): string {
  const given = answers as OutcomeAnswer[];
  const said = given.map(
    (answer) => `${sentenceOf(answer)} (${answer.url}, ${Math.round(answer.timings.totalMs)} ms${batchText(answer)})`,
  );
  const divided = outcome === 'retry' && given.some(isRefusedBatch) ? DIVIDED : '';
  const none = row.is_erased ? 'its answers are erased' : 'No target was left that had to get it';
  const words = said.length === 0 ? none : said.join('; ');
  return `Attempt ${attempt} at ${at.toISOString()}: ${words}.${divided}`;
}

const DIVIDED = ' The receiver may mean another event of the batch, so this one goes again in a smaller batch.';

function batchText({ events }: OutcomeAnswer): string {
  return events === undefined ? '' : `, in a batch of ${events} events`;
}

/** A status that is final for an event that was alone. */
function isRefusedBatch({ events = 1, status = 0 }: OutcomeAnswer): boolean {
  return events > 1 && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function sampledOut({ row, attempts }: StoryFacts): string[] {
  const isMissing = attempts.length === 0 && row.attempts > 0 && !row.is_erased;
  return isMissing ? [`Attempt ${row.attempts} was made; its answers are not kept (MILLRACE_RECORD_SAMPLE).`] : [];
}

const NO_LETTER =
  'Given up, and not kept as a dead letter: the dead letters of this destination or workspace hold all they may. Replay the event as long as it is stored.';

function endSentences({ row, attempts, lane }: StoryFacts): string[] {
  switch (row.state) {
    case 'delivered': {
      const count = attemptsUntil(row.changed_at, attempts) ?? row.attempts;
      return [`Delivered at ${row.changed_at.toISOString()}${count > 1 ? `, after ${count} attempts` : ''}.`];
    }
    case 'discarded':
      if (row.reason === 'letter_refused') return [NO_LETTER];
      if (row.reason === 'destination_deleted') return [DELETED];
      return row.reason === 'lane_full'
        ? ['Given up: so many deliveries wait for this destination that there was no room for it. It is a dead letter.']
        : ['Given up: the receiver refused it and would again. It is kept as a dead letter for 14 days.'];
    case 'expired':
      if (row.reason === 'letter_refused') return [NO_LETTER];
      return ['Given up: its 4 hours are over. It is kept as a dead letter for 14 days.'];
    case 'pending':
      return ['It was not tried yet: it waits in the lane of its destination.', ...laneSentences(lane)];
    case 'retrying':
      return [`It waits to be tried again${dueText(row)}.`, ...laneSentences(lane)];
    case 'skipped':
      return [];
  }
}

const DELETED =
  'Given up: its destination was deleted while it waited. It is not kept, because there is nothing left to send it to.';

/** A replay counts its attempts from 1 again: the successful attempt's number is how many it took. */
function attemptsUntil(deliveredAt: Date, attempts: readonly AttemptRow[]): number | undefined {
  const last = attempts.find(({ at, outcome }) => outcome === 'delivered' && at.getTime() === deliveredAt.getTime());
  return last?.attempt ?? (attempts.length === 0 ? undefined : 1);
}

function dueText({ next_at: nextAt }: DeliveryRow): string {
  return nextAt === null ? '' : `, not before ${nextAt.toISOString()}`;
}

const LANES: Readonly<Record<LaneHealth['state'], string>> = {
  failing: 'The destination keeps failing, so only probes are sent',
  asked_to_wait: 'The receiver asked us to wait',
  paused: 'The destination is paused',
  waiting: 'Deliveries of this destination wait for their time',
  draining: 'What waited is being sent again',
};

/** The state of a destination's lane in sentences. */
export function laneSentences(lane: LaneHealth | undefined): string[] {
  if (lane === undefined) return [];
  const why = lane.why === undefined || lane.why === '' ? '' : ` (${lane.why})`;
  const next = lane.nextAt === undefined ? '' : `; it is looked at next at ${lane.nextAt}`;
  const clear =
    lane.clearInMs === undefined ? '' : `, which takes about ${Math.ceil(lane.clearInMs / 1_000)} s to clear`;
  return [`${LANES[lane.state]}${why}, since ${lane.since}${next}. ${depthText(lane.depth)}${clear}.`];
}

function depthText(depth: number): string {
  return depth === 1 ? 'One delivery waits' : `${depth} deliveries wait`;
}
