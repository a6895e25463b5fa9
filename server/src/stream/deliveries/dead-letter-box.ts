import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { FORMAT_HEADER } from '../../domain/format.ts';
import { DEAD_STREAM, deadSubject } from '../layout/layout.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import { readAt, readSubject, removeAt } from '../nats/read-subject.ts';

export type StoredLetter = {
  sequence: number;
  destinationId: string;
  text: string;
  /** The version of its format; empty when it carries none. */
  format: string;
};

/** The dead letters as people use them: list, retry, remove. */
export type DeadLetterBox = {
  /** Letters of one destination from a sequence on, oldest first. An empty list means that there are no more. */
  read(destinationId: string, from: number, most: number): Promise<StoredLetter[]>;
  readOne(sequence: number): Promise<StoredLetter | undefined>;
  /** The last one of all, by its sequence. */
  last(): Promise<number>;
  /** How many there are of each destination. */
  counts(): Promise<Map<string, number>>;
  /** The bytes of all of them together. */
  bytes(): Promise<number>;
  remove(sequence: number): Promise<void>;
  /** Moves one that cannot be read into quarantine; false when it could not be, and stays. */
  setAside(letter: StoredLetter, why: string): Promise<boolean>;
  /** Removes it, and overwrites it on the disk. */
  erase(sequence: number): Promise<void>;
};

export function openDeadLetterBox(manager: JetStreamManager, quarantine: Pick<Quarantine, 'append'>): DeadLetterBox {
  return {
    async read(destinationId, from, most) {
      const place = { stream: DEAD_STREAM, subject: deadSubject(destinationId), from };
      return (await readSubject(manager, place, most)).map(toLetter);
    },
    async readOne(sequence) {
      const found = await readAt(manager, DEAD_STREAM, sequence);
      return found === undefined ? undefined : toLetter(found);
    },
    async last() {
      return (await manager.streams.info(DEAD_STREAM)).state.last_seq;
    },
    async counts() {
      const { state } = await manager.streams.info(DEAD_STREAM, { subjects_filter: deadSubject('*') });
      return new Map(Object.entries(state.subjects ?? {}).map(([subject, count]) => [destinationOf(subject), count]));
    },
    async bytes() {
      return (await manager.streams.info(DEAD_STREAM)).state.bytes;
    },
    remove: (seq) => removeAt(manager, { stream: DEAD_STREAM, seq, isErased: false }),
    async setAside({ sequence, destinationId, text, format }, why) {
      const from = { stream: DEAD_STREAM, subject: deadSubject(destinationId), sequence };
      const headers = format === '' ? [] : [[FORMAT_HEADER, format] as const];
      const kept = await quarantine.append({ kind: 'letter', payload: Buffer.from(text), from, why, headers });
      if (kept === 'stored') await removeAt(manager, { stream: DEAD_STREAM, seq: sequence, isErased: false });
      return kept === 'stored';
    },
    erase: (seq) => removeAt(manager, { stream: DEAD_STREAM, seq, isErased: true }),
  };
}

function toLetter({ seq, subject, data, header }: StoredMsg): StoredLetter {
  const format = header.get(FORMAT_HEADER);
  return { sequence: seq, destinationId: destinationOf(subject), text: Buffer.from(data).toString(), format };
}

/** The destination in the subject of a dead letter. */
export function destinationOf(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}
