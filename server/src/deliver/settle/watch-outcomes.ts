import type { Counter, Metrics } from '../../metrics/open-metrics.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import type { OutcomeAnswer, OutcomeEntry } from '../../domain/outcome.ts';
import type { TailEntry } from '../../stream/signals/tail-entry.ts';
import type { TailWriter } from '../../stream/signals/tail-writer.ts';

export type OutcomeWatch = (entry: OutcomeEntry) => void;
export type OutcomeWatchNeeds = { metrics: Metrics; tail: TailWriter; now(): number };

/** Sees every entry that goes to the record: counts it for the metrics, and shows it to the tail. */
export function openOutcomeWatch({ metrics, tail, now }: OutcomeWatchNeeds): OutcomeWatch {
  const count = openCount(metrics, now);
  return (entry) => {
    count(entry);
    const { sourceId, type } = entry;
    if (!tail.isWanted(sourceId) || !tail.takes(sourceId, type, entry)) return;
    tail.send(sourceId, JSON.stringify(tailEntry(entry)));
  };
}

function openCount(metrics: Metrics, now: () => number): OutcomeWatch {
  const ended = metrics.counters('millrace_deliveries_total');
  const dead = metrics.counters('millrace_dead_letters_total');
  const parked = metrics.counters('millrace_parked_total');
  const countAttempt = openAttemptCount(metrics, now);
  const giveUp = (reason: string) => {
    ended(reason).add();
    dead(reason).add();
  };
  return (entry) => {
    switch (entry.kind) {
      case 'waiting':
        parked('untried').add();
        return;
      case 'skipped':
        ended('skipped').add();
        return;
      case 'given_up':
        // There is no dead letter of it: its destination is gone.
        if (entry.reason === 'destination_deleted') ended(entry.reason).add();
        else giveUp(entry.reason);
        return;
      case 'attempt':
        countAttempt(entry);
        if (entry.outcome === 'delivered') ended('delivered').add();
        else if (entry.outcome === 'retry') parked('retry').add();
        else giveUp(entry.outcome);
    }
  };
}

type AttemptEntry = Extract<OutcomeEntry, { kind: 'attempt' }>;

function openAttemptCount(metrics: Metrics, now: () => number): (entry: AttemptEntry) => void {
  const attempts = metrics.counters('millrace_attempts_total');
  const errors = metrics.counters('millrace_attempt_errors_total');
  const duration = metrics.histogram('millrace_attempt_seconds');
  const lag = metrics.histogram('millrace_first_delivery_seconds');
  return (entry) => {
    attempts(entry.outcome).add();
    let slowestMs = 0;
    for (const answer of entry.answers) {
      slowestMs = Math.max(slowestMs, answer.timings.totalMs);
      countError(answer, errors);
    }
    duration.observe(slowestMs / 1_000);
    if (entry.attempt === 1 && entry.outcome === 'delivered') {
      lag.observe(Math.max(0, now() - Date.parse(entry.receivedAt)) / 1_000);
    }
  };
}

function countError({ status, errorClass }: OutcomeAnswer, errors: (value: string) => Counter): void {
  if (errorClass !== undefined) errors(errorClass).add();
  else if (status !== undefined && (status < 200 || status > 299)) errors(`http_${Math.floor(status / 100)}xx`).add();
}

function tailEntry(entry: OutcomeEntry): TailEntry {
  const { messageId, type, name, userId, anonymousId, destinationId, deliveryId } = entry;
  return {
    kind: 'outcome',
    at: new Date(entry.at).toISOString(),
    messageId,
    type,
    ...(name === undefined ? {} : { name }),
    ...(userId === undefined ? {} : { userId }),
    ...(anonymousId === undefined ? {} : { anonymousId }),
    destinationId,
    deliveryId,
    ...factOf(entry),
  };
}

function factOf(entry: OutcomeEntry): Pick<Extract<TailEntry, { kind: 'outcome' }>, 'outcome' | 'attempt' | 'why'> {
  switch (entry.kind) {
    case 'attempt': {
      const { outcome, attempt, nextAt, answers } = entry;
      const why = [...answers.map(({ status, errorClass }) => errorClass ?? String(status)), ...refusedLetter(entry)];
      return { outcome, attempt, why, ...(nextAt === undefined ? {} : { nextAt: new Date(nextAt).toISOString() }) };
    }
    case 'waiting':
      return { outcome: 'waiting' };
    case 'given_up':
      return {
        outcome: entry.reason === 'expired' ? 'expired' : 'discarded',
        why: [entry.reason, ...refusedLetter(entry)],
      };
    case 'skipped':
      return { outcome: 'skipped', why: [entry.reason, ...(entry.rule === undefined ? [] : [entry.rule])] };
  }
}

function refusedLetter({ letter }: { letter?: 'refused' | undefined }): string[] {
  return letter === undefined ? [] : ['letter_refused'];
}

/** Counts dead letters and batches of the record that NATS had no room for: people cannot see those anywhere else. */
export function countRefused(side: DeliverySide, metrics: Metrics): DeliverySide {
  const letters = metrics.counter('millrace_dead_letters_refused_total');
  const batches = metrics.counter('millrace_record_refused_total');
  const counting = async <T extends string>(stored: Promise<T>, refused: Counter): Promise<T> => {
    const answer = await stored;
    if (answer === 'full') refused.add();
    return answer;
  };
  const { deadLetters, outcomes } = side;
  return {
    ...side,
    deadLetters: { ...deadLetters, append: (...letter) => counting(deadLetters.append(...letter), letters) },
    outcomes: { ...outcomes, append: (...batch) => counting(outcomes.append(...batch), batches) },
  };
}

export type LanesSeen = { lanes(): Iterable<LaneHealth>; quotaBytes(): number; now(): number };

const STATES = ['failing', 'asked_to_wait', 'paused', 'waiting', 'draining'] as const;

/** Every deliver process sees all lanes, so these are the same in each of them. */
export function showLanes(metrics: Metrics, { lanes, quotaBytes, now }: LanesSeen): void {
  metrics.gauges('millrace_lanes', () => {
    const counts = new Map<string, number>(STATES.map((state) => [state, 0]));
    for (const { state } of lanes()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return counts;
  });
  const over = (number: (lane: LaneHealth) => number, join: (one: number, other: number) => number) => () => {
    let all = 0;
    for (const lane of lanes()) all = join(all, number(lane));
    return all;
  };
  const failingMs = ({ state, since }: LaneHealth) => (state === 'failing' ? now() - Date.parse(since) : 0);
  metrics.gauge(
    'millrace_lanes_depth',
    over(
      ({ depth }) => depth,
      (one, other) => one + other,
    ),
  );
  metrics.gauge(
    'millrace_lane_fill_ratio_max',
    over(({ bytes }) => bytes / quotaBytes(), Math.max),
  );
  metrics.gauge(
    'millrace_lane_failing_seconds_max',
    over((lane) => failingMs(lane) / 1_000, Math.max),
  );
}
