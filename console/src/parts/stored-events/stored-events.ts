/** The search through stored events: the query, how far Millrace looked, and the names of events. */
import type { StoredEventItem, StoredEventItems } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { counted } from '../../format/numbers.ts';
import { moment } from '../../format/times.ts';
import type { UrlSearch } from '../lists/url-filters.tsx';

export type StoredItem = Static<typeof StoredEventItem>;
export type StoredPage = Static<typeof StoredEventItems>;

const HOUR_MS = 3_600_000;
export const SPANS: Readonly<Record<string, { label: string; ms: number }>> = {
  '1h': { label: 'Last hour', ms: HOUR_MS },
  '6h': { label: 'Last 6 hours', ms: 6 * HOUR_MS },
  '24h': { label: 'Last 24 hours', ms: 24 * HOUR_MS },
  '72h': { label: 'Last 72 hours', ms: 72 * HOUR_MS },
};

export const FILTER_NAMES = ['userId', 'name', 'type', 'text', 'range'] as const;

export function isFiltered(search: UrlSearch): boolean {
  return FILTER_NAMES.some((name) => search[name] !== undefined && search[name] !== '');
}

/** The time is rounded to a minute, so that the same search is read from memory for a minute. */
export function queryOf(search: UrlSearch, sourceId: string, now: number): Record<string, string> {
  const query: Record<string, string> = { sourceId };
  for (const name of ['userId', 'name', 'type', 'text'] as const) {
    const value = search[name];
    if (value !== undefined && value !== '') query[name] = value;
  }
  const span = SPANS[search.range ?? ''];
  if (span !== undefined) query.from = new Date(Math.floor((now - span.ms) / 60_000) * 60_000).toISOString();
  return query;
}

export type Looked = { events: number; requests: number; from: string | undefined; isComplete: boolean };

export function lookedOf(pages: readonly StoredPage[]): Looked {
  const last = pages.at(-1);
  return {
    events: pages.reduce((sum, { lookedAt }) => sum + lookedAt.events, 0),
    requests: pages.reduce((sum, { lookedAt }) => sum + lookedAt.requests, 0),
    from: last?.from,
    isComplete: last?.isComplete ?? false,
  };
}

/** "Millrace looked at 1,204 events, back to 11:20:03. Older ones are left." */
export function lookedSentence({ events, from, isComplete }: Looked, now: number): string {
  const looked = `Millrace looked at ${counted(events, 'stored event')}`;
  if (isComplete) return `${looked}: everything that is stored and in this range.`;
  return `${looked}, back to ${from === undefined ? 'now' : moment(from, now)}. Older ones are left.`;
}

type Event = StoredItem['event'];

export function textOf(event: Event, field: string): string | undefined {
  const value = event[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The name of a track event, page or screen; the type of any other. */
export function nameOf(event: Event): string {
  return textOf(event, 'event') ?? textOf(event, 'name') ?? textOf(event, 'type') ?? 'event';
}

export function receivedAtOf({ event, storedAt }: StoredItem): string {
  return textOf(event, 'receivedAt') ?? storedAt;
}
