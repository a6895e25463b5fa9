/** The time range of a page. It lives in the URL as `range`, so a link shows the same. */
import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';

const HOUR_MS = 3_600_000;
/** What a range is called, how long it is, and the step of its charts in seconds. */
export const RANGES = {
  '1h': { words: 'last hour', ms: HOUR_MS, step: 60 },
  '24h': { words: 'last 24 hours', ms: 24 * HOUR_MS, step: 1_800 },
  '7d': { words: 'last 7 days', ms: 168 * HOUR_MS, step: 10_800 },
  '30d': { words: 'last 30 days', ms: 720 * HOUR_MS, step: 43_200 },
} as const;
export type RangeName = keyof typeof RANGES;

export function readRange(value: unknown): RangeName | undefined {
  return typeof value === 'string' && value in RANGES ? (value as RangeName) : undefined;
}

export function useRange(): (typeof RANGES)[RangeName] & { name: RangeName } {
  const { range } = useSearch({ strict: false }) as { range?: RangeName };
  const name = range ?? '24h';
  return { ...RANGES[name], name };
}

export function RangeSwitch() {
  const navigate = useNavigate();
  const { name } = useRange();
  return (
    <SegmentedControl
      aria-label="Time range"
      size="xs"
      value={name}
      onChange={(range) => void navigate({ to: '.', search: (before: object) => ({ ...before, range }) })}
      data={[
        { value: '1h', label: '1 h' },
        { value: '24h', label: '24 h' },
        { value: '7d', label: '7 d' },
        { value: '30d', label: '30 d' },
      ]}
    />
  );
}
