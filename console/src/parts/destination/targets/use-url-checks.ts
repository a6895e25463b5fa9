/** Checks each URL a moment after the last key, one question a URL. */
import { useDebouncedValue } from '@mantine/hooks';
import type { UrlCheck } from '@millrace/contract/control';
import { useQueries } from '@tanstack/react-query';
import { hasStatus } from '../../../api/look-again.ts';
import { asking } from '../asking.ts';
import { looksWhole, needsCheck } from './targets.ts';

/** A workspace has 60 checks a minute: not every key may ask. */
const QUIET_MS = 600;
const AFTER_LIMIT_MS = 5_000;

export type UrlState =
  | { kind: 'typing' }
  | { kind: 'off' }
  | { kind: 'checking' }
  | { kind: 'checked'; check: UrlCheck; again(): void; isBusy: boolean }
  | { kind: 'failed'; error: unknown; again(): void };

/** `saved` are the URLs that the destination has already: they are not checked, for each check is in the audit log. */
export function useUrlChecks(urls: readonly string[], saved: readonly string[] = []): UrlState[] {
  const typed = urls.map((url) => url.trim());
  const [text] = useDebouncedValue(typed.join('\n'), QUIET_MS);
  const settled = text.split('\n');
  const reads = useQueries({
    queries: typed.map((url) => ({
      ...asking<UrlCheck>('/destinations/check-url', { url }, needsCheck(url, saved) && settled.includes(url)),
      retry: (failures: number, error: Error) => failures < 1 && hasStatus(error, 429),
      retryDelay: AFTER_LIMIT_MS,
    })),
  });
  return typed.map((url, place): UrlState => {
    const read = reads[place];
    if (read === undefined || !looksWhole(url)) return { kind: 'typing' };
    const again = () => void read.refetch();
    if (read.data !== undefined) return { kind: 'checked', check: read.data, again, isBusy: read.isFetching };
    if (read.error !== null) return { kind: 'failed', error: read.error, again };
    return needsCheck(url, saved) ? { kind: 'checking' } : { kind: 'off' };
  });
}

/** The places of the URLs that cannot be used, counted from 1. */
export function refusedPlaces(states: readonly UrlState[]): number[] {
  return states.flatMap((state, place) => (state.kind === 'checked' && !state.check.ok ? [place + 1] : []));
}
