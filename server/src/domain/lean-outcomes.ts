/**
 * Version 2 of a batch of outcomes: beside `entries`, which are whole as in version 1, it has `lean` ones. Attempts with one answer, which are
 * nearly all entries, are lists without names of fields, and fields that entries have in common are in the batch once.
 */
import type { OutcomeAnswer, OutcomeEntry } from './outcome.ts';
import type { Fields } from './format.ts';

type AttemptEntry = Extract<OutcomeEntry, { kind: 'attempt' }>;

/** Fields in common, each in its place. */
const SHARED = ['workspaceId', 'sourceId', 'destinationId', 'type', 'name', 'attempt', 'outcome', 'replayId'] as const;
const SHARED_OF_ANSWER = ['url', 'status', 'errorClass', 'message', 'address', 'events'] as const;
const TIMINGS = ['totalMs', 'firstByteMs', 'connectMs', 'tlsMs', 'dnsMs'] as const;
/** Fields of one entry, after the number of its shared ones. Times are milliseconds after the batch's `from`. */
const OWN = ['deliveryId', 'messageId', 'userId', 'anonymousId', 'receivedAt', 'at', 'nextAt'] as const;

type Placed = (typeof SHARED)[number] | (typeof OWN)[number] | 'kind' | 'answers' | 'letter';
type PlacedOfAnswer = (typeof SHARED_OF_ANSWER)[number] | 'timings' | 'body';
type True<T extends true> = T;
/** The compiler refuses this when a field has no place above. */
export type EveryFieldHasItsPlace = True<
  [Exclude<keyof AttemptEntry, Placed>, Exclude<keyof OutcomeAnswer, PlacedOfAnswer>] extends [never, never]
    ? true
    : false
>;

/** Entries on their way to be one message. */
export type GatheredBatch = {
  size(): number;
  /** Of the text that it will become, about. */
  bytes(): number;
  add(entry: OutcomeEntry): void;
  text(): string;
};

export function openLeanBatch(): GatheredBatch {
  const places = new Map<string, number>();
  const lean: string[] = [];
  const whole: string[] = [];
  let from: number | undefined;
  let bytes = 0;

  function addLean(entry: AttemptEntry, answer: OutcomeAnswer): string {
    from ??= entry.at;
    const shared = JSON.stringify([
      ...SHARED.map((name) => entry[name]),
      ...SHARED_OF_ANSWER.map((name) => answer[name]),
    ]);
    const place = places.get(shared) ?? places.size;
    if (place === places.size) {
      places.set(shared, place);
      bytes += shared.length;
    }
    const { deliveryId, messageId, userId, anonymousId, receivedAt, at, nextAt } = entry;
    const times = [sinceFrom(receivedAt, from), at - from, nextAt === undefined ? undefined : nextAt - from];
    const timings = withoutEnd(TIMINGS.map((name) => answer.timings[name]));
    const own = [place, deliveryId, messageId, userId, anonymousId, ...times, timings, answer.body];
    return JSON.stringify(withoutEnd(own));
  }

  return {
    size: () => lean.length + whole.length,
    bytes: () => bytes,
    add(entry) {
      const answer = onlyAnswer(entry);
      const text = answer === undefined ? JSON.stringify(entry) : addLean(entry as AttemptEntry, answer);
      bytes += text.length;
      (answer === undefined ? whole : lean).push(text);
    },
    text() {
      const shared = [...places.keys()].join(',');
      return `{"entries":[${whole.join(',')}],"from":${from ?? 0},"shared":[${shared}],"lean":[${lean.join(',')}]}`;
    },
  };
}

export function openWholeBatch(): GatheredBatch {
  const whole: string[] = [];
  let bytes = 0;
  return {
    size: () => whole.length,
    bytes: () => bytes,
    add(entry) {
      const text = JSON.stringify(entry);
      bytes += text.length;
      whole.push(text);
    },
    text: () => `{"entries":[${whole.join(',')}]}`,
  };
}

/** Undefined for an entry that has to stay whole. */
function onlyAnswer(entry: OutcomeEntry): OutcomeAnswer | undefined {
  if (entry.kind !== 'attempt' || entry.letter !== undefined || entry.answers.length !== 1) return undefined;
  return entry.answers[0];
}

/** As a number only if that gives the same text back. */
function sinceFrom(time: string, from: number): number | string {
  const ms = Date.parse(time);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === time ? ms - from : time;
}

function withoutEnd(list: unknown[]): unknown[] {
  return list.slice(0, list.findLastIndex((value) => value !== undefined) + 1);
}

/** The entries of a batch that are lean, as whole ones; one that has no such form comes back as it is. */
export function readLean(batch: Fields): unknown[] {
  const { lean, shared, from } = batch;
  if (!Array.isArray(lean)) return [];
  return lean.map((row: unknown) => {
    const place: unknown = Array.isArray(row) ? row[0] : undefined;
    const common: unknown = Array.isArray(shared) && typeof place === 'number' ? shared[place] : undefined;
    if (!Array.isArray(row) || !Array.isArray(common) || typeof from !== 'number') return row;
    return entryOf(row, common, from);
  });
}

function entryOf(row: unknown[], common: unknown[], from: number): Fields {
  const own = fieldsOf(OWN, row.slice(1));
  const [timings, body] = row.slice(1 + OWN.length);
  const sharedOfAnswer = fieldsOf(SHARED_OF_ANSWER, common.slice(SHARED.length));
  const answer = { ...sharedOfAnswer, timings: Array.isArray(timings) ? fieldsOf(TIMINGS, timings) : timings };
  const later = (value: unknown) => (typeof value === 'number' ? value + from : value);
  return {
    ...fieldsOf(SHARED, common),
    ...own,
    receivedAt: typeof own['receivedAt'] === 'number' ? timeOf(own['receivedAt'] + from) : own['receivedAt'],
    at: later(own['at']),
    ...('nextAt' in own ? { nextAt: later(own['nextAt']) } : {}),
    kind: 'attempt',
    answers: [typeof body === 'string' ? { ...answer, body } : answer],
  };
}

/** JSON has null for undefined in a list. */
function fieldsOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const given = names.map((name, place) => [name, values[place]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null));
}

function timeOf(ms: number): string | undefined {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
