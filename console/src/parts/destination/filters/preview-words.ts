/** The preview of a destination in words. */
import type { FilterRule } from '@millrace/contract';
import type { DestinationPreview } from '@millrace/contract/control';
import { ruleText } from '@millrace/contract/filter-rule';
import { short } from '../../../format/numbers.ts';
import { whyNot } from './why-not.ts';

const MINUTE_MS = 60_000;
const LEAST_SPAN_MS = 10_000;

type Sent = DestinationPreview['delivered']['first'][number];
type NotSent = DestinationPreview['skipped']['first'][number];
export type PreviewRow = Sent & { skipped: { words: string; code: string } | undefined };

/** "27 a minute", from how long the events of the preview took to come in. Nothing for a span that is too short to tell. */
export function ratePerMinute({ looked, delivered }: DestinationPreview): string | undefined {
  if (looked.from === null || looked.to === null || delivered.count === 0) return undefined;
  const spanMs = Date.parse(looked.to) - Date.parse(looked.from);
  if (spanMs < LEAST_SPAN_MS) return undefined;
  const rate = (delivered.count * MINUTE_MS) / spanMs;
  if (rate >= 1) return `${short(Math.round(rate))} a minute`;
  const hourly = rate * 60;
  return hourly >= 1 ? `${Math.round(hourly)} an hour` : 'one in some hours';
}

/** Sent and not sent together, newest first. */
export function rowsOf(
  { delivered, skipped }: DestinationPreview,
  show: 'all' | 'sent' | 'not',
  rules: readonly FilterRule[],
): PreviewRow[] {
  const sent = delivered.first.map((event) => ({ ...event, skipped: undefined }));
  const not = skipped.first.map(({ reason, rule, sentence, ...event }) => ({
    ...event,
    skipped: { words: skipWords({ rule, sentence, body: event.body }, rules), code: reason },
  }));
  const all = show === 'sent' ? sent : show === 'not' ? not : [...sent, ...not];
  return all.toSorted((a, b) => b.receivedAt.localeCompare(a.receivedAt));
}

/** The rule by its place in the editor; one that was changed since the preview by its own words. */
function skipWords(event: Pick<NotSent, 'rule' | 'sentence' | 'body'>, rules: readonly FilterRule[]): string {
  const place = rules.findIndex((rule) => ruleText(rule) === event.rule);
  const rule = rules[place];
  if (rule !== undefined) return `rule ${place + 1}: ${whyNot(rule, event.body) ?? event.rule}`;
  return event.rule === null ? withoutLead(event.sentence) : `breaks the rule ${event.rule}`;
}

/** The reason alone: the words before it say what the reader sees. */
export function withoutLead(sentence: string): string {
  return sentence.replace(/^Not sent: /, '');
}

/** The name of an event; its type where it has no name. */
export function eventName({ type, name }: { type: string; name: string | null }): string {
  if (name === null || name === '') return type;
  return type === 'track' ? name : `${type} ${name}`;
}
