/** Refused calls of the last seven days, by their code. */
import type { Refusals } from '@millrace/contract/control';
import type { Static } from 'typebox';

export type RefusalsOf = Static<typeof Refusals>;
type Sample = RefusalsOf['items'][number]['samples'][number];

export type RefusalGroup = {
  code: string;
  count: number;
  /** Oldest first. */
  days: { day: string; count: number }[];
  lastAt: string;
  /** The sentence of the latest sample: the cause, then the remedy. */
  message: string;
  /** Newest first, at most three. */
  samples: Sample[];
};

const MOST_SAMPLES = 3;

/** Most frequent first. */
export function groupRefusals({ items }: RefusalsOf): RefusalGroup[] {
  const groups = new Map<string, RefusalGroup>();
  for (const { code, day, count, lastAt, samples } of items) {
    const group = groups.get(code) ?? { code, count: 0, days: [], lastAt, message: '', samples: [] };
    group.count += count;
    group.days.push({ day, count });
    if (lastAt > group.lastAt) group.lastAt = lastAt;
    group.samples.push(...samples);
    groups.set(code, group);
  }
  for (const group of groups.values()) {
    group.days.sort((one, other) => one.day.localeCompare(other.day));
    group.samples = group.samples.sort((one, other) => other.at.localeCompare(one.at)).slice(0, MOST_SAMPLES);
    group.message = group.samples[0]?.message ?? '';
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/** The beginning of a call, indented when it is whole JSON. */
export function readable(call: string): string {
  try {
    return JSON.stringify(JSON.parse(call), null, 2);
  } catch {
    return call;
  }
}
