import { openBreather } from '../../breathe.ts';
import type { DeadLetter, DeadReason } from '../../domain/dead-letter.ts';
import { readLetter } from '../../domain/read-deliveries.ts';
import type { DeadLetterBox, StoredLetter } from '../../stream/deliveries/dead-letter-box.ts';

export type LetterFilter = { reason?: DeadReason; from?: string; to?: string };
export type NumberedLetter = { sequence: number; letter: DeadLetter };
/** Where the next scan continues: this sequence in the letters of this destination. */
export type LetterPlace = { destinationId: string; sequence: number };

export type LetterScan = {
  /** The destinations to scan, in the order of their ids. */
  destinationIds: readonly string[];
  filter: LetterFilter;
  at: LetterPlace | undefined;
  most: number;
  /** The last sequence to scan: later letters stay. */
  upTo?: number;
};

export type Scanned = {
  found: NumberedLetter[];
  /** Undefined at the end. */
  next: LetterPlace | undefined;
};

const READ_AT_ONCE = 200;
/** Bounds one request: a filter that matches little must not make it read everything. */
const MAX_LOOKED_AT = 5_000;

type Letters = Pick<DeadLetterBox, 'read' | 'setAside'>;

/** The next letters that match, oldest first for each destination. */
export async function scanLetters(box: Letters, scan: LetterScan): Promise<Scanned> {
  const { at, upTo = Infinity } = scan;
  const found: NumberedLetter[] = [];
  const breathe = openBreather();
  let lookedAt = 0;
  for (const destinationId of scan.destinationIds.toSorted()) {
    if (at !== undefined && destinationId < at.destinationId) continue;
    let from = at?.destinationId === destinationId ? at.sequence : 1;
    for (;;) {
      const stored = await box.read(destinationId, from, READ_AT_ONCE);
      for (const one of stored) {
        const { sequence } = one;
        if (sequence > upTo) break;
        if (found.length === scan.most || lookedAt === MAX_LOOKED_AT)
          return { found, next: { destinationId, sequence } };
        lookedAt += 1;
        const letter = await readOrSetAside(box, one);
        if (letter !== undefined && matches(letter, scan.filter)) found.push({ sequence, letter });
        await breathe();
      }
      const last = stored.at(-1);
      if (last === undefined || last.sequence >= upTo) break;
      from = last.sequence + 1;
    }
  }
  return { found, next: undefined };
}

/** Undefined for an unreadable letter, which goes to quarantine, and for one of a newer version, which stays. */
export async function readOrSetAside(
  box: Pick<DeadLetterBox, 'setAside'>,
  stored: StoredLetter,
): Promise<DeadLetter | undefined> {
  const read = readLetter(stored.text, stored.format);
  if (read.ok) return read.value;
  if (read.problem === 'unreadable') await box.setAside(stored, read.why);
  return undefined;
}

export function matches({ reason, at }: DeadLetter, filter: LetterFilter): boolean {
  if (filter.reason !== undefined && filter.reason !== reason) return false;
  if (filter.from !== undefined && at < Date.parse(filter.from)) return false;
  return filter.to === undefined || at < Date.parse(filter.to);
}
