/** The rules that decided whether an event goes to a destination, in the order in which deliver applies them. */
import { brokenRule, type FilterRule } from '@millrace/contract/filter';
import { ruleText } from '@millrace/contract/filter-rule';
import type { Destination } from '@millrace/contract/control';
import type { JourneyPart } from './verdict.ts';

export type StoredEvent = Record<string, unknown>;

export type RuleLine = {
  isBroken: boolean;
  text: string;
  /** The rule itself, in mono. */
  rule?: string;
  /** The value that the event had in the field of the rule. */
  found?: string;
};

const MOST_SHOWN = 80;

/** Reasons before the filter, with the words for an event that passed and for one that did not. */
const STEPS: readonly { reasons: readonly string[]; yes?: string; no: string }[] = [
  { reasons: ['erased'], no: 'Its user was erased' },
  { reasons: ['suppressed'], no: 'Its user is suppressed' },
  { reasons: ['destination_disabled'], no: 'The destination was not enabled' },
  {
    reasons: ['integrations_map'],
    yes: 'The call allows it (integrations)',
    no: 'The call turns it off (integrations)',
  },
  { reasons: ['blocked_event'], yes: 'Event name not blocked', no: 'Event name blocked in the source' },
  { reasons: ['type_not_accepted'], no: 'Not a type that the destination takes' },
];

export function ruleLines(
  part: JourneyPart,
  destination: Destination | undefined,
  event: StoredEvent | undefined,
): RuleLine[] {
  const lines: RuleLine[] = [];
  for (const { reasons, yes, no } of STEPS) {
    if (part.state === 'skipped' && reasons.includes(part.reason ?? ''))
      return [...lines, { isBroken: true, text: no }];
    if (yes !== undefined) lines.push({ isBroken: false, text: yes });
  }
  return [...lines, ...filterLines(part, destination, event)];
}

function filterLines(
  part: JourneyPart,
  destination: Destination | undefined,
  event: StoredEvent | undefined,
): RuleLine[] {
  const rules = (destination?.filters ?? []) as FilterRule[];
  if (part.state === 'skipped') return stoppedLines(part, rules, event);
  if (destination !== undefined && rules.length === 0) return [{ isBroken: false, text: 'No filter' }];
  const isAsThen = event === undefined ? isUnchanged(part, destination) : rules.every((rule) => passes(event, rule));
  if (destination === undefined || !isAsThen) return [{ isBroken: false, text: 'It passed the filter of that time' }];
  return rules.map((rule) => lineOf(rule, event, false));
}

/** The record names the rule that stopped it; the rules before it let it pass. */
function stoppedLines(part: JourneyPart, rules: readonly FilterRule[], event: StoredEvent | undefined): RuleLine[] {
  if (part.reason !== 'filtered') return [{ isBroken: true, text: part.reason ?? 'The reason is not recorded' }];
  const place = rules.findIndex((rule) => ruleText(rule) === part.rule);
  const broken = rules[place];
  if (broken === undefined)
    return [{ isBroken: true, text: 'Filter of that time:', ...(part.rule === null ? {} : { rule: part.rule }) }];
  return [...rules.slice(0, place).map((rule) => lineOf(rule, event, false)), lineOf(broken, event, true)];
}

function isUnchanged({ receivedAt }: JourneyPart, destination: Destination | undefined): boolean {
  return destination !== undefined && Date.parse(destination.updatedAt) <= Date.parse(receivedAt);
}

function passes(event: StoredEvent, rule: FilterRule): boolean {
  return brokenRule(event as Parameters<typeof brokenRule>[0], [rule]) === undefined;
}

function lineOf(rule: FilterRule, event: StoredEvent | undefined, isBroken: boolean): RuleLine {
  const line = { isBroken, text: 'Filter:', rule: ruleText(rule) };
  return event === undefined ? line : { ...line, found: foundText(valueAt(event, rule.field)) };
}

function foundText(value: unknown): string {
  const text = value === undefined || value === null ? undefined : JSON.stringify(value);
  if (text === undefined) return 'is missing';
  return `is ${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}`;
}

export function valueAt(event: StoredEvent, field: string): unknown {
  let at: unknown = event;
  for (const name of field.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** The fields that filters of these destinations look at: the stored call marks their values. */
export function fieldsLookedAt(destinations: readonly Destination[]): ReadonlySet<string> {
  return new Set(destinations.flatMap(({ filters }) => filters.map(({ field }) => field)));
}
