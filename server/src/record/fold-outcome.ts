import type { GiveUpReason } from '@millrace/contract/help';
import type { DeliveryRow, DeliveryState } from '../store/deliveries.ts';
import { recordText, storable } from '../store/record-text.ts';
import type { OutcomeAnswer, OutcomeEntry } from '../domain/outcome.ts';

/** The outcomes that end a delivery, each with the bit that marks it as counted. */
const ENDS = { delivered: 1, discarded: 2, expired: 4, skipped: 8 } as const;
type End = keyof typeof ENDS;

/** An increment of the counters. */
export type Counted = { outcome: End; errorClass: string };
export type Folded = { row: DeliveryRow; counted: Counted | undefined };

type Fact = { state: DeliveryState; reason: string | null; rule?: string; rank: number };

/** An entry as it may be recorded: of an erased user, without the user. */
export type RecordableEntry = OutcomeEntry & { isErased?: true };

/**
 * Folds one outcome into the delivery's row. Idempotent, and independent of the order of arrival: the times of the outcomes
 * decide, and a delivered delivery stays delivered. A delivery counts once for each end it had; it has two ends after a crash
 * between them, or after a replay.
 */
export function foldOutcome(before: DeliveryRow | undefined, entry: RecordableEntry): Folded {
  const fact = factOf(entry);
  const row = before === undefined ? newRow(entry, fact) : { ...before };
  const receivedAt = new Date(entry.receivedAt);
  if (receivedAt < row.received_at) row.received_at = receivedAt;
  if (entry.isErased === true || fact.reason === 'erased') row.is_erased = true;
  if (entry.replayId !== undefined) foldReplay(row, entry.replayId, new Date(entry.at));
  if (entry.kind === 'attempt') foldAttempt(row, entry);
  else if (entry.kind !== 'skipped') row.attempts = Math.max(row.attempts, entry.attempts);
  if (isNews(row, fact, entry.at)) {
    row.state = fact.state;
    row.reason = fact.reason;
    row.rule = fact.rule ?? null;
    row.changed_at = new Date(entry.at);
  }
  return { row, counted: count(row, fact) };
}

function factOf(entry: OutcomeEntry): Fact {
  switch (entry.kind) {
    case 'waiting':
      return { state: 'pending', reason: null, rank: 0 };
    case 'skipped':
      return {
        state: 'skipped',
        reason: recordText(entry.reason),
        ...(entry.rule === undefined ? {} : { rule: recordText(entry.rule) }),
        rank: 1,
      };
    case 'given_up':
      return {
        state: entry.reason === 'expired' ? 'expired' : 'discarded',
        reason: reasonOf(entry.letter) ?? entry.reason,
        rank: 3,
      };
    case 'attempt':
      if (entry.outcome === 'retry') return { state: 'retrying', reason: null, rank: 2 };
      return { state: entry.outcome, reason: reasonOf(entry.letter), rank: entry.outcome === 'delivered' ? 4 : 3 };
  }
}

/** A refused dead letter leaves nothing to replay, which matters more than why the delivery was given up. */
function reasonOf(letter: 'refused' | undefined): GiveUpReason | null {
  return letter === undefined ? null : 'letter_refused';
}

function newRow(entry: OutcomeEntry, fact: Fact): DeliveryRow {
  return {
    workspace_id: entry.workspaceId,
    id: entry.deliveryId,
    received_on: entry.receivedAt.slice(0, 10),
    received_at: new Date(entry.receivedAt),
    source_id: entry.sourceId,
    destination_id: entry.destinationId,
    message_id: recordText(entry.messageId),
    type: entry.type,
    name: textOrNull(entry.name),
    user_id: textOrNull(entry.userId),
    anonymous_id: textOrNull(entry.anonymousId),
    state: fact.state,
    reason: fact.reason,
    rule: fact.rule ?? null,
    changed_at: new Date(entry.at),
    attempts: 0,
    first_attempt_at: null,
    last_attempt_at: null,
    last_status: null,
    error_class: null,
    sentence: null,
    next_at: null,
    counted: 0,
    replay_id: null,
    replayed_at: null,
    is_erased: false,
  };
}

const RANKS: Readonly<Record<DeliveryState, number>> = {
  pending: 0,
  skipped: 1,
  retrying: 2,
  discarded: 3,
  expired: 3,
  delivered: 4,
};

function isNews(row: DeliveryRow, fact: Fact, at: number): boolean {
  const newer = at - row.changed_at.getTime();
  // Of several successful attempts, the first.
  if (fact.state === 'delivered') return row.state !== 'delivered' || newer < 0;
  if (row.state === 'delivered') return false;
  return newer > 0 || (newer === 0 && fact.rank > RANKS[row.state]);
}

/** The row names the latest of several replays. */
function foldReplay(row: DeliveryRow, replayId: string, at: Date): void {
  if (row.replayed_at !== null && at < row.replayed_at) return;
  row.replay_id = replayId;
  row.replayed_at = at;
}

type AttemptEntry = Extract<OutcomeEntry, { kind: 'attempt' }>;

/** The row describes the first successful attempt, or else the last one. */
function foldAttempt(row: DeliveryRow, entry: AttemptEntry): void {
  const at = new Date(entry.at);
  const isLatest = row.last_attempt_at === null || at > row.last_attempt_at;
  row.attempts = Math.max(row.attempts, entry.attempt);
  if (row.first_attempt_at === null || at < row.first_attempt_at) row.first_attempt_at = at;
  if (isLatest) row.last_attempt_at = at;
  const wasDelivered = (row.counted & ENDS.delivered) !== 0;
  const isTelling = entry.outcome === 'delivered' ? !wasDelivered || at < row.changed_at : !wasDelivered && isLatest;
  if (!isTelling) return;
  const telling = tellingAnswer(entry);
  row.last_status = telling?.status ?? null;
  row.error_class = entry.outcome === 'delivered' ? null : errorClassOf(telling);
  row.sentence = telling === undefined ? null : sentenceOf(telling);
  row.next_at = entry.nextAt === undefined ? null : new Date(entry.nextAt);
}

/** The answer that explains the outcome, of several targets. */
export function tellingAnswer({
  outcome,
  answers,
}: Pick<AttemptEntry, 'outcome' | 'answers'>): OutcomeAnswer | undefined {
  const isGood = ({ status = 0 }: OutcomeAnswer) => status >= 200 && status < 300;
  return answers.find((answer) => isGood(answer) === (outcome === 'delivered')) ?? answers[0];
}

/** The class of an error, or of a status: `http_503`. */
export function errorClassOf(answer: OutcomeAnswer | undefined): string {
  return answer?.errorClass ?? (answer?.status === undefined ? 'unknown' : `http_${answer.status}`);
}

export function sentenceOf({ status, message }: OutcomeAnswer): string {
  return message === undefined ? `the receiver answered ${status}` : storable(message);
}

function count(row: DeliveryRow, { state, reason }: Fact): Counted | undefined {
  if (state === 'pending' || state === 'retrying') return undefined;
  const bit = ENDS[state];
  if ((row.counted & bit) !== 0) return undefined;
  row.counted |= bit;
  const errorClass = state === 'delivered' ? '' : (reason ?? row.error_class ?? '');
  return { outcome: state, errorClass };
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : recordText(text);
}
