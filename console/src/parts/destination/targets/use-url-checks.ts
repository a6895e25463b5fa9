/** Checks each URL a moment after the last key, one question a URL. */
import { useDebouncedValue } from '@mantine/hooks';
import type { UrlCheck } from '@millrace/contract/control';
import { useQueries } from '@tanstack/react-query';
import { asking } from '../asking.ts';
import { looksWhole } from './targets.ts';

/** A workspace has 60 checks a minute: not every key may ask. */
const QUIET_MS = 600;

export type UrlState =
  | { kind: 'typing' }
  | { kind: 'off' }
  | { kind: 'checking' }
  | { kind: 'checked'; check: UrlCheck; again(): void; isBusy: boolean }
  | { kind: 'failed'; error: unknown; again(): void };

export function useUrlChecks(urls: readonly string[], isOn = true): UrlState[] {
  const typed = urls.map((url) => url.trim());
  const [text] = useDebouncedValue(typed.join('\n'), QUIET_MS);
  const settled = text.split('\n');
  const reads = useQueries({
    queries: typed.map((url) =>
      asking<UrlCheck>('/destinations/check-url', { url }, isOn && looksWhole(url) && settled.includes(url)),
    ),
  });
  return typed.map((url, place): UrlState => {
    const read = reads[place];
    if (read === undefined || !looksWhole(url)) return { kind: 'typing' };
    const again = () => void read.refetch();
    if (read.data !== undefined) return { kind: 'checked', check: read.data, again, isBusy: read.isFetching };
    if (read.error !== null) return { kind: 'failed', error: read.error, again };
    return isOn ? { kind: 'checking' } : { kind: 'off' };
  });
}

/** The places of the URLs that cannot be used, counted from 1. */
export function refusedPlaces(states: readonly UrlState[]): number[] {
  return states.flatMap((state, place) => (state.kind === 'checked' && !state.check.ok ? [place + 1] : []));
}
