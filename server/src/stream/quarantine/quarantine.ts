/**
 * Quarantine: stored things that a role cannot work with, such as a message that it cannot read or an entry that
 * PostgreSQL refuses. The role appends a copy here and acknowledges the original only when the answer is `stored`; after
 * `full` and `unavailable` the original waits where it is. People list entries, put them back to work or remove them.
 */
import { createHash } from 'node:crypto';
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { MsgHdrs } from '@nats-io/nats-core';
import { QUARANTINE_STREAM, QUARANTINED_KINDS, type QuarantinedKind, quarantineSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';
import { readAt, readSubject, removeAt } from '../nats/read-subject.ts';

/** Where a quarantined thing lay. */
export type Origin = { stream: string; subject: string; sequence: number };
export type HeaderPair = readonly [name: string, value: string];

export type Quarantined = {
  kind: QuarantinedKind;
  payload: Uint8Array;
  from: Origin;
  /** In words, for people; shortened to fit a header. */
  why: string;
  /** Of the original message, for putting it back. */
  headers?: readonly HeaderPair[];
};

export type Quarantine = {
  /** The same payload from the same place within an hour is one entry. */
  append(quarantined: Quarantined): Promise<'stored' | 'full' | 'unavailable'>;
  /** Something of a newer format was met and left where it is. */
  left(kind: QuarantinedKind, why: string): void;
};

export type QuarantineEntry = Required<Quarantined> & {
  sequence: number;
  /** When it was quarantined, in milliseconds. */
  at: number;
};

/** The quarantine as operators use it. */
export type QuarantineBox = {
  /** Entries of one kind, or of all, from a sequence on, oldest first. An empty list means that there are no more. */
  read(kind: QuarantinedKind | '*', from: number, most: number): Promise<QuarantineEntry[]>;
  readOne(sequence: number): Promise<QuarantineEntry | undefined>;
  counts(): Promise<Map<QuarantinedKind, number>>;
  /** Resolves also when it was gone already. */
  remove(sequence: number): Promise<void>;
};

const ENTRY_HEADER = 'Millrace-Quarantined';
/** The original's headers travel as one value: some of them, such as a schedule, would have an effect here. */
const ORIGINAL_HEADER = 'Millrace-Original-Headers';
/** Together with the payload it has to fit into the largest message that the servers take. */
const MOST_WHY = 300;

export function openQuarantine({ metrics, ...needs }: DurableNeeds & { metrics: Metrics }): Quarantine {
  const counted = metrics.counters('millrace_quarantined_total');
  return {
    left: () => undefined,
    async append({ kind, payload, from, why, headers = [] }) {
      const entry = { ...from, why: why.slice(0, MOST_WHY) };
      const original: HeaderPair[] = headers.length === 0 ? [] : [[ORIGINAL_HEADER, JSON.stringify(headers)]];
      const publication = {
        subject: quarantineSubject(kind),
        id: idOf(from, payload),
        headers: [[ENTRY_HEADER, JSON.stringify(entry)] as const, ...original],
        payload,
      };
      const kept = keptOrNot(await publishDurably(publication, needs));
      if (kept === 'stored') counted(kind).add();
      return kept;
    },
  };
}

export function openQuarantineBox(manager: JetStreamManager): QuarantineBox {
  return {
    async read(kind, from, most) {
      const place = { stream: QUARANTINE_STREAM, subject: quarantineSubject(kind), from };
      return (await readSubject(manager, place, most)).map(toEntry);
    },
    async readOne(sequence) {
      const found = await readAt(manager, QUARANTINE_STREAM, sequence);
      return found === undefined ? undefined : toEntry(found);
    },
    async counts() {
      const { state } = await manager.streams.info(QUARANTINE_STREAM, { subjects_filter: quarantineSubject('*') });
      return new Map(QUARANTINED_KINDS.map((kind) => [kind, state.subjects?.[quarantineSubject(kind)] ?? 0]));
    },
    remove: (seq) => removeAt(manager, { stream: QUARANTINE_STREAM, seq, isErased: true }),
  };
}

/** The headers that we gave a message, not those for the engine: an id would make it a duplicate, a schedule would fire. */
export function ownHeaders(headers: MsgHdrs | undefined): HeaderPair[] {
  const names = headers?.keys().filter((name) => !name.startsWith('Nats-')) ?? [];
  return names.map((name) => [name, headers?.get(name) ?? '']);
}

/** With the payload's hash: a recreated stream begins at sequence 1 again. */
function idOf({ stream, sequence }: Origin, payload: Uint8Array): string {
  return `${stream}/${sequence}/${createHash('sha256').update(payload).digest('hex').slice(0, 32)}`;
}

function toEntry({ seq, subject, data, header, timestamp }: StoredMsg): QuarantineEntry {
  const { why = 'unknown', ...from } = parsed<Origin & { why?: string }>(header.get(ENTRY_HEADER), NOWHERE);
  return {
    sequence: seq,
    kind: subject.slice(subject.lastIndexOf('.') + 1) as QuarantinedKind,
    payload: Buffer.from(data),
    from,
    why,
    headers: parsed<HeaderPair[]>(header.get(ORIGINAL_HEADER), []),
    at: Date.parse(timestamp),
  };
}

const NOWHERE: Origin = { stream: '', subject: '', sequence: 0 };

/** One entry that cannot be understood must not hide the others. */
function parsed<T>(text: string, otherwise: T): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}
