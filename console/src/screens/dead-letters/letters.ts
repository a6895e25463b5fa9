/** Dead letters with the words that the record of deliveries has for them. */
import type { DeadLetterItem, DeadLetterQuery, Delivery, Redrive } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { counted } from '../../format/numbers.ts';
import type { UrlSearch } from '../../parts/lists/url-filters.tsx';

export type Letter = DeadLetterItem;
export type RedriveJob = Static<typeof Redrive>;
export type LetterFilter = Pick<Static<typeof DeadLetterQuery>, 'destinationId' | 'reason' | 'from' | 'to'>;

export const KEPT_MS = 14 * 86_400_000;
const HOUR_MS = 3_600_000;
/** A delivery is received at most so long before it is given up: four hours of attempts, and a week in a paused lane. */
export const SPANS: Readonly<Record<string, { label: string; ms: number }>> = {
  '1h': { label: 'Last hour', ms: HOUR_MS },
  '24h': { label: 'Last 24 hours', ms: 24 * HOUR_MS },
  '7d': { label: 'Last 7 days', ms: 168 * HOUR_MS },
};

export const REASONS: Readonly<Record<Letter['reason'], { label: string; why: string }>> = {
  discarded: { label: 'Rejected', why: 'The receiver refused it in a way that a retry does not change.' },
  expired: { label: 'Four hours over', why: 'No target took it within four hours of attempts.' },
  lane_full: { label: 'No room in the lane', why: 'So many deliveries waited that there was no room for it.' },
};

export function filterOf(search: UrlSearch, now: number): LetterFilter {
  const span = SPANS[search.range ?? ''];
  const reason =
    search.reason !== undefined && search.reason in REASONS ? (search.reason as Letter['reason']) : undefined;
  return {
    ...(search.destinationId === undefined || search.destinationId === ''
      ? {}
      : { destinationId: search.destinationId }),
    ...(reason === undefined ? {} : { reason }),
    ...(span === undefined ? {} : { from: new Date(Math.floor((now - span.ms) / 60_000) * 60_000).toISOString() }),
  };
}

export function isFiltered(search: UrlSearch): boolean {
  return ['destinationId', 'reason', 'errorClass', 'range'].some((name) => (search[name] ?? '') !== '');
}

export type TellingLetter = Letter & { delivery: Delivery | undefined };

export function withDeliveries(letters: readonly Letter[], deliveries: readonly Delivery[]): TellingLetter[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  return letters.map((letter) => ({ ...letter, delivery: byId.get(letter.deliveryId) }));
}

/** The error classes among these letters, most frequent first. */
export function errorClassesOf(letters: readonly TellingLetter[]): { errorClass: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { delivery } of letters) {
    const errorClass = delivery?.errorClass ?? undefined;
    if (errorClass !== undefined) counts.set(errorClass, (counts.get(errorClass) ?? 0) + 1);
  }
  return [...counts].map(([errorClass, count]) => ({ errorClass, count })).sort((a, b) => b.count - a.count);
}

/** "http_401" is the status 401; other classes are words already. */
export function classWords(errorClass: string): string {
  const status = /^http_(\d{3})$/.exec(errorClass)?.[1];
  return status === undefined ? errorClass.replaceAll('_', ' ') : `Answered ${status}`;
}

/** The first words of the screen, in the colour of their state; undefined while nothing is given up or counted. */
export function headCount(total: number | null | undefined): string | undefined {
  return total === null || total === undefined || total === 0 ? undefined : counted(total, 'dead letter');
}

export function headline(total: number | null | undefined): string {
  if (total === null || total === undefined) return 'Deliveries that Millrace gave up, each kept for 14 days.';
  if (total === 0) return 'Nothing is given up.';
  return `${total === 1 ? 'waits' : 'wait'} for your decision. Millrace keeps each for 14 days.`;
}
