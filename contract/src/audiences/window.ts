const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const WINDOW = /^([1-9]\d{0,6})([mhd])$/;

export const MAX_WINDOW_DAYS = 1_095;

/** The length of `90m`, `12h` or `30d` in milliseconds; undefined for anything else, and for more than three years. */
export function parseWindow(text: string): number | undefined {
  const [, count, unit = ''] = WINDOW.exec(text) ?? [];
  if (count === undefined) return undefined;
  const lengthMs = Number(count) * (UNITS[unit] ?? Number.NaN);
  return lengthMs <= MAX_WINDOW_DAYS * DAY_MS ? lengthMs : undefined;
}

/** The length of the buckets in which events of a window are counted: a minute, an hour or a UTC day. */
export function resolutionOf(windowMs: number): number {
  if (windowMs <= 3 * DAY_MS) return MINUTE_MS;
  return windowMs <= 90 * DAY_MS ? HOUR_MS : DAY_MS;
}

/** The number of the bucket of an event, counted from 1970. */
export function bucketOf(eventAt: number, resolutionMs: number): number {
  return Math.floor(eventAt / resolutionMs);
}

/**
 * The time from which an event no longer counts. All events of a bucket leave together, when the window has passed for the last
 * moment of the bucket: never too early, and late by one bucket at most.
 */
export function countsUntil(eventAt: number, windowMs: number): number {
  const resolutionMs = resolutionOf(windowMs);
  return (bucketOf(eventAt, resolutionMs) + 1) * resolutionMs + windowMs;
}
