import { meets } from './measure-attempts.ts';
import type { Attempt, SentCall } from './oracle.ts';

/** One event as a stream's leader holds it. */
export type StoredEvent = {
  stream: string;
  sequence: number;
  sourceId: string;
  messageId: string;
  /** On the clock of `performance.now()` of this process. */
  receivedAt: number;
};

/** A time in which the engine was disturbed: only then may a request have moved to another stream. */
export type Disturbance = { from: number; to: number };

export type Promises = {
  /** `across_streams`: a request that left its home stream during a disturbance may be in both. Never twice in one. */
  duplicates: 'never' | 'across_streams';
  statuses: readonly number[];
  /** Whether a connection may be refused or reset. A request that is never answered is always a failure. */
  areResetsFine: boolean;
};

export type Evidence = {
  calls: ReadonlyMap<string, SentCall>;
  attempts: readonly Attempt[];
  stored: readonly StoredEvent[];
  disturbances: readonly Disturbance[];
  /** When collect heard nothing from a stream, by its own log: then it may move a request, or refuse it. */
  silences?: readonly Disturbance[];
};

export type Duplicate = { messageId: string; places: string[]; problem: string | undefined };

export type Verdict = {
  failures: string[];
  lost: string[];
  ghosts: string[];
  strays: string[];
  duplicates: Duplicate[];
  unsettled: string[];
  /** Stored by an attempt whose answer the client never heard: the retry was recognised, or is a duplicate. */
  storedUnheard: string[];
};

/** Stored times are in whole milliseconds. */
const CLOCK_SLACK_MS = 2;
const CONNECTION_ERRORS = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/** Holds what the clients know against what the streams hold. */
export function judge(evidence: Evidence, promises: Promises): Verdict {
  const places = groupById(evidence.stored);
  const sent = [...evidence.calls];
  const verdict = {
    lost: sent.filter(([id, call]) => call.answered !== undefined && !places.has(id)).map(([id]) => id),
    ghosts: [...places.keys()].filter((id) => !evidence.calls.has(id)),
    strays: evidence.stored.filter((event) => isStray(event, evidence.calls)).map((event) => event.messageId),
    duplicates: findDuplicates(places, evidence, promises),
    storedUnheard: sent.filter(([id, call]) => isUnheard(places.get(id) ?? [], call)).map(([id]) => id),
    unsettled: sent.filter(([, call]) => call.answered === undefined).map(([id]) => id),
  };
  const bad = verdict.duplicates.filter((duplicate) => duplicate.problem !== undefined);
  const failures = [
    ...complain(verdict.lost, 'answered 200 and not stored'),
    ...complain(verdict.ghosts, 'stored and never sent'),
    ...complain(verdict.strays, 'stored for a source that did not send it'),
    ...complain(verdict.unsettled, 'still not answered 200 at the end'),
    ...complain(
      bad.map(({ messageId, problem }) => `${messageId} (${problem})`),
      'stored more often than promised',
    ),
    ...unexpectedOutcomes(evidence, promises),
  ];
  return { failures, ...verdict };
}

/**
 * The same, and what only a silence explains is lateness: a stall of the engine of 0.8 s is enough for one, and
 * docs/inside/guarantees.md says what follows. It is no excuse: collect's word is not proof that the engine was silent.
 */
export function judgeWithSilences(evidence: Evidence, promises: Promises): Verdict & { late: string[] } {
  const verdict = judge({ ...evidence, silences: [] }, promises);
  const { failures } = judge(evidence, promises);
  const explained = verdict.failures.filter((text) => !failures.includes(text));
  return { ...verdict, failures, late: explained.map((text) => `${text}, while a stream was silent`) };
}

function groupById(stored: readonly StoredEvent[]): Map<string, StoredEvent[]> {
  return Map.groupBy(stored, (event) => event.messageId);
}

function isUnheard(events: StoredEvent[], { answered }: SentCall): boolean {
  return events.some((event) => answered !== undefined && event.receivedAt < answered.startedAt - CLOCK_SLACK_MS);
}

function isStray(event: StoredEvent, calls: Evidence['calls']): boolean {
  const call = calls.get(event.messageId);
  return call !== undefined && call.sourceId !== event.sourceId;
}

function findDuplicates(
  places: Map<string, StoredEvent[]>,
  { calls, disturbances, silences = [] }: Evidence,
  promises: Promises,
): Duplicate[] {
  const causes = promises.duplicates === 'never' ? silences : [...disturbances, ...silences];
  return [...places]
    .filter(([, events]) => events.length > 1)
    .map(([messageId, events]) => ({
      messageId,
      places: events.map(({ stream, sequence }) => `${stream}#${sequence}`),
      problem: duplicateProblem(events, calls.get(messageId), causes),
    }));
}

function duplicateProblem(
  events: StoredEvent[],
  call: SentCall | undefined,
  causes: readonly Disturbance[],
): string | undefined {
  if (new Set(events.map((event) => event.stream)).size < events.length) return 'twice in one stream';
  const isExplained =
    call !== undefined && meets(causes, { from: call.firstSentAt, to: call.answered?.endedAt ?? Infinity });
  return isExplained ? undefined : 'in two streams while nothing disturbed them';
}

function unexpectedOutcomes({ attempts, silences = [] }: Evidence, promises: Promises): string[] {
  const isExplained = ({ outcome, startedAt, endedAt }: Attempt) =>
    outcome === 503 && meets(silences, { from: startedAt, to: endedAt });
  const unexpected = attempts.filter((one) => !isExpected(one.outcome, promises) && !isExplained(one));
  const counts = Map.groupBy(unexpected, (attempt) => attempt.outcome);
  return [...counts].map(([outcome, group]) => `${group.length} requests ended with ${outcome}`);
}

function isExpected(outcome: Attempt['outcome'], promises: Promises): boolean {
  if (typeof outcome === 'number') return promises.statuses.includes(outcome);
  return promises.areResetsFine && CONNECTION_ERRORS.has(outcome);
}

function complain(ids: string[], what: string): string[] {
  return ids.length === 0 ? [] : [`${ids.length} calls ${what}: ${ids.slice(0, 3).join(', ')}`];
}
