/** The filters of a list of deliveries: from the URL to the query of the API, and in words. Pure. */
import type { Query } from '../../api/ask-control.ts';
import { STATE_WORDS } from '../delivery/delivery-words.ts';
import { listed } from '../../format/listed.ts';
import { cutText, visible } from '../../format/texts.ts';

export const FILTERS = ['state', 'errorClass', 'event', 'userId', 'destinationId', 'sourceId', 'messageId'] as const;
export type FilterName = (typeof FILTERS)[number];
export type DeliverySearch = Readonly<Partial<Record<FilterName, string>>>;

export const STATE_CHOICES = [
  { value: '', label: 'Any state' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'pending', label: 'Waiting' },
  { value: 'discarded', label: 'Given up: refused' },
  { value: 'expired', label: 'Given up: four hours over' },
  { value: 'skipped', label: 'Skipped' },
];

export function queryOf(search: DeliverySearch, from: string): Query {
  const query: Record<string, string | number> = { from, limit: 100 };
  for (const name of FILTERS) {
    const value = search[name];
    if (value !== undefined) query[name] = value;
  }
  return query;
}

export function isFiltered(search: DeliverySearch, fixed: DeliverySearch = {}): boolean {
  return FILTERS.some((name) => search[name] !== undefined && fixed[name] === undefined);
}

const NAMES: Readonly<Record<FilterName, string>> = {
  state: 'state',
  errorClass: 'error',
  event: 'event',
  userId: 'user',
  destinationId: 'destination',
  sourceId: 'source',
  messageId: 'messageId',
};

/** "state Retrying and user u_1", for the page that found nothing. */
export function filterWords(search: DeliverySearch): string {
  return listed(
    FILTERS.flatMap((name) => {
      const value = search[name];
      if (value === undefined) return [];
      const words = name === 'state' ? (STATE_WORDS[value as keyof typeof STATE_WORDS] ?? value) : value;
      return [`${NAMES[name]} ${cutText(visible(words), 60)}`];
    }),
  );
}

/** The row that is shown beside the list, and those around it. */
export function neighbour<Item extends { id: string }>(
  items: readonly Item[],
  id: string | undefined,
  step: 1 | -1,
): Item | undefined {
  const place = items.findIndex((item) => item.id === id);
  if (place === -1) return step === 1 ? items[0] : items.at(-1);
  return items[Math.min(Math.max(place + step, 0), items.length - 1)];
}
