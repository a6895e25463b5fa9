/** Times that people give and read. */
import { distance, moment } from '@millrace/console/format/times';
import { Failure } from './failures.ts';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time such as 2026-11-16T09:00:00Z, or a distance back from now such as 90m, 2h or 7d. */
export function readTime(text: string, option: string, now: number = Date.now()): string {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) {
    return new Date(now - Number(amount) * (UNITS_MS[unit] ?? 0)).toISOString();
  }
  const at = Date.parse(text);
  if (Number.isNaN(at)) {
    throw new Failure(`${option} ${text} is no time.`, {
      exit: 'usage',
      todo: 'Give a time such as 2026-11-16T09:00:00Z, or a distance back from now such as 90m, 2h or 7d.',
    });
  }
  return new Date(at).toISOString();
}

export function timeText(at: string | null | undefined): string {
  return at === null || at === undefined ? '' : moment(at);
}

export function timeWithDistance(at: string): string {
  return `${moment(at)} (${distance(at)})`;
}
