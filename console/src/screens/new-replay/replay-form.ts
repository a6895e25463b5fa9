/** The form of a new replay: its fields in the URL, and the request that they make. */
import type { NewReplay } from '@millrace/contract/control';
import type { UrlSearch } from '../../parts/lists/url-filters.tsx';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Ranges that end now; `own` takes two times. */
export const SPANS: Readonly<Record<string, { label: string; ms: number }>> = {
  '15m': { label: 'Last 15 minutes', ms: 15 * MINUTE_MS },
  '1h': { label: 'Last hour', ms: HOUR_MS },
  '6h': { label: 'Last 6 hours', ms: 6 * HOUR_MS },
  '24h': { label: 'Last 24 hours', ms: 24 * HOUR_MS },
  '72h': { label: 'Last 72 hours', ms: 72 * HOUR_MS },
};

export const TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
type CallType = (typeof TYPES)[number];

/** Names and ids are separated by line breaks or commas. */
export function listIn(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(/[\n,]/).map((each) => each.trim()))].filter((each) => each !== '');
}

export function rangeOf(search: UrlSearch, now: number): { from: string; to: string } | undefined {
  const span = SPANS[search.range ?? (search.from === undefined ? '1h' : '')];
  if (span !== undefined) return { from: new Date(now - span.ms).toISOString(), to: new Date(now).toISOString() };
  const from = Date.parse(search.from ?? '');
  const to = Date.parse(search.to ?? '');
  if (Number.isNaN(from) || Number.isNaN(to) || from >= to) return undefined;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** Whether the range has two times of its own; any other ends now, and moves on. */
export function isFixed({ range, from }: UrlSearch): boolean {
  return SPANS[range ?? (from === undefined ? '1h' : '')] === undefined;
}

/** The request, or the first thing that is missing. */
export function requestOf(
  search: UrlSearch,
  now: number,
): { ok: true; value: NewReplay } | { ok: false; missing: string } {
  if ((search.sourceId ?? '') === '') return { ok: false, missing: 'Choose a source.' };
  if ((search.destinationId ?? '') === '') return { ok: false, missing: 'Choose a destination.' };
  const range = rangeOf(search, now);
  if (range === undefined) return { ok: false, missing: 'Give a time and a later one.' };
  const type = TYPES.find((each) => each === search.type);
  const filter: { types?: CallType[]; events?: string[]; userIds?: string[] } = {
    ...(type === undefined ? {} : { types: [type] }),
    ...(listIn(search.event).length === 0 ? {} : { events: listIn(search.event) }),
    ...(listIn(search.userId).length === 0 ? {} : { userIds: listIn(search.userId) }),
  };
  return {
    ok: true,
    value: {
      sourceId: search.sourceId ?? '',
      destinationId: search.destinationId ?? '',
      ...range,
      ...(Object.keys(filter).length === 0 ? {} : { filter }),
    },
  };
}

/** Whether two requests ask for the same. A range that ends now moves on: only its length is compared. */
export function isSame(one: NewReplay, other: NewReplay, hasTimes: boolean): boolean {
  const key = ({ from, to, ...rest }: NewReplay) =>
    JSON.stringify({ ...rest, range: hasTimes ? [from, to] : Date.parse(to) - Date.parse(from) });
  return key(one) === key(other);
}

/** The value of an input of type datetime-local, in the browser's zone. */
export function localInput(iso: string | undefined): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS);
  return shifted.toISOString().slice(0, 23);
}

export function fromLocalInput(text: string): string | undefined {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
