/** Which events a leaf or a computed trait looks at, in words. */
import type { FilterRule } from '@millrace/contract';
import { type EventSelection, parseWindow, resolutionOf } from '@millrace/contract/audiences';
import { day } from '../../format/times.ts';
import { OP_WORDS, takesValue } from '../destination/filters/rules.ts';
import { joined, type Piece } from './pieces.ts';

const UNITS: Readonly<Record<string, string>> = { m: 'minute', h: 'hour', d: 'day' };
const HOUR_MS = 3_600_000;
const MOST_VALUES = 5;

/** "30 days", "1 hour"; the text itself when it is no window. */
export function windowWords(window: string): string {
  const amount = Number.parseInt(window, 10);
  const unit = UNITS[window.slice(-1)];
  return unit === undefined || Number.isNaN(amount) ? window : `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** " in the last 30 days"; "" for events that count for good. */
export function timeWords({ window, between }: EventSelection): string {
  if (window !== undefined) return ` in the last ${windowWords(window)}`;
  return between === undefined ? '' : ` from ${moment(between.from)} until ${moment(between.to)}`;
}

/** The minute only where it is not midnight. */
function moment(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text === '' ? '…' : text;
  const clock = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  return clock === '00:00' ? day(at) : `${day(at)} ${clock}`;
}

/** " where currency is EUR and total greater than 10". */
export function whereWords(where: readonly FilterRule[] | undefined): Piece[] {
  if (where === undefined || where.length === 0) return [];
  return [
    ' where ',
    ...joined(
      where.map((rule) => ruleWords(rule)),
      'and',
    ),
  ];
}

export function ruleWords({ field, op, value, values }: FilterRule): Piece[] {
  return [{ name: field.replace(/^properties\./, '') }, ...comparedWords({ op, value, values })];
}

type Compared = { op: FilterRule['op']; value?: FilterRule['value']; values?: FilterRule['values'] };

/** " is one of pro, team". */
export function comparedWords({ op, value, values }: Compared): Piece[] {
  const given = values ?? (value === undefined ? [] : [value]);
  if (given.length === 0) return [` ${OP_WORDS[op]}${takesValue(op) ? ' …' : ''}`];
  const shown = given.slice(0, MOST_VALUES).map((each) => [{ name: String(each) }]);
  const rest = given.length - shown.length;
  return [` ${OP_WORDS[op]} `, ...joined(shown, 'or'), ...(rest > 0 ? [` or ${rest} more`] : [])];
}

/** A name that is not typed yet leaves its place open. */
export function nameOf(event: string | undefined): Piece | undefined {
  return event === undefined ? undefined : { name: event === '' ? '…' : event };
}

/** The events themselves, in the plural: "Order Completed events", "views of the page Home". */
export function eventWords({ type = 'track', event }: EventSelection): Piece[] {
  const named = nameOf(event);
  switch (type) {
    case 'track':
      return named === undefined ? ['tracked events'] : [named, ' events'];
    case 'page':
      return named === undefined ? ['page views'] : ['views of the page ', named];
    case 'screen':
      return named === undefined ? ['screen views'] : ['views of the screen ', named];
    case 'identify':
      return ['identify calls'];
  }
}

/** How exact a window is: "moves by the hour". Nothing for events that count for good. */
export function stepWords(windows: readonly string[]): string | undefined {
  const lengths = windows.map((window) => parseWindow(window)).filter((length) => length !== undefined);
  if (lengths.length === 0) return undefined;
  const coarsest = Math.max(...lengths.map((length) => resolutionOf(length)));
  const step = coarsest < HOUR_MS ? 'minute' : coarsest === HOUR_MS ? 'hour' : 'day (UTC)';
  return lengths.length === 1
    ? `The window moves by the ${step}: an event never counts too short, and at most one ${step.split(' ')[0]} too long.`
    : `The windows move by the ${step} or finer: no event counts too short.`;
}
