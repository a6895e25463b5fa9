/** Limits in words: their use, their numbers, and how near the use is to the number. */
import type { LimitState, LimitUse } from '@millrace/contract/control';
import { bytes, counted, short } from '../../format/numbers.ts';
import type { StateName } from '../../format/state-name.ts';

export const STATE_WORDS: Readonly<Record<LimitState, string>> = {
  below: 'Below',
  near: 'Near',
  reached: 'Reached',
  unknown: 'Not known now',
};

export const STATE_NAMES: Readonly<Record<LimitState, StateName>> = {
  below: 'delivered',
  near: 'waiting',
  reached: 'givenup',
  unknown: 'skipped',
};

export function amount(value: number, { unit }: Pick<LimitUse, 'unit'>): string {
  return unit === 'bytes' ? bytes(value) : short(value);
}

/** "No limit is near.", "1 limit is reached and 2 are near." */
export function tellLimits(limits: readonly Pick<LimitUse, 'state'>[]): string {
  const of = (state: LimitState) => limits.filter((limit) => limit.state === state).length;
  const reached = of('reached');
  const near = of('near');
  if (reached === 0) return near === 0 ? 'No limit is near.' : `${counted(near, 'limit is', 'limits are')} near.`;
  const also = near === 0 ? '' : ` and ${near} ${near === 1 ? 'is' : 'are'} near`;
  return `${counted(reached, 'limit is', 'limits are')} reached${also}.`;
}
