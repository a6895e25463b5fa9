import { FILTER_OPS, type FilterRule } from '../filter.ts';
import { isRuleField, RULE_FIELD_PROBLEM, ruleProblems } from '../filter-rule.ts';
import { parseTimestamp } from '../timestamps.ts';
import { COUNTED_TYPES, MAX_WHERE_RULES } from './definition.ts';
import {
  checkList,
  checkText,
  isObject,
  type ProblemList,
  refuseOthers,
  type UntrustedObject,
} from './problem-list.ts';
import { MAX_WINDOW_DAYS, parseWindow } from './window.ts';

export const SELECTION_FIELDS = ['type', 'event', 'where', 'window', 'between'];
const MAX_NAME_CHARACTERS = 1_000;

/** Which events, and how long they count. */
export function checkSelection(value: UntrustedObject, problems: ProblemList): void {
  checkNames(value, problems);
  if (value['where'] !== undefined) checkRules(value['where'], problems.at('/where'));
  const { window, between } = value;
  if (window !== undefined && between !== undefined) problems.add('/between', 'cannot stand beside window: choose one');
  if (window !== undefined && (typeof window !== 'string' || parseWindow(window) === undefined))
    problems.add('/window', `must be a length such as 90m, 12h or 30d, of at most ${MAX_WINDOW_DAYS} days`);
  if (between !== undefined) checkBetween(between, problems.at('/between'));
}

function checkNames({ type, event }: UntrustedObject, problems: ProblemList): void {
  if (type === undefined && event === undefined) problems.add('/event', 'is needed: the name of the event to count');
  if (type !== undefined && !COUNTED_TYPES.some((each) => each === type))
    problems.add('/type', `must be one of ${COUNTED_TYPES.join(', ')}`);
  if (event === undefined) return;
  if (type === 'identify') problems.add('/event', 'is not for identify calls, which have no name');
  const message = checkText(event, MAX_NAME_CHARACTERS);
  if (message !== undefined) problems.add('/event', message);
}

function checkBetween(value: unknown, problems: ProblemList): void {
  if (!isObject(value)) return problems.add('', 'must be an object with from and to');
  refuseOthers(value, ['from', 'to'], problems);
  const [from, to] = ['from', 'to'].map((name) => {
    const at = typeof value[name] === 'string' ? parseTimestamp(value[name]) : undefined;
    if (at === undefined) problems.add(`/${name}`, 'must be a time such as 2026-01-31T00:00:00Z');
    return at;
  });
  if (from !== undefined && to !== undefined && from >= to) problems.add('/to', 'must be later than from');
}

function checkRules(value: unknown, problems: ProblemList): void {
  const message = checkList(value, MAX_WHERE_RULES, 'rules');
  if (message !== undefined || !Array.isArray(value)) return problems.add('', message ?? '');
  for (const [at, rule] of value.entries()) checkRule(rule, problems.at(`/${at}`));
}

const RULE_FIELDS = ['field', 'op', 'value', 'values'];

function checkRule(value: unknown, problems: ProblemList): void {
  if (!isObject(value)) return problems.add('', 'must be a rule such as {"field": "properties.plan", "op": "exists"}');
  refuseOthers(value, RULE_FIELDS, problems);
  if (typeof value['field'] !== 'string') return problems.add('/field', RULE_FIELD_PROBLEM);
  if (!checkOperands(value, problems)) return;
  for (const [path, message] of ruleProblems(value as FilterRule)) problems.add(path, message);
}

/** Whether operator and operands have the right kinds; `ruleProblems` then says whether they fit each other. */
export function checkOperands({ op, value, values }: UntrustedObject, problems: ProblemList): boolean {
  const isKnown = FILTER_OPS.some((each) => each === op);
  if (!isKnown) problems.add('/op', `must be one of ${FILTER_OPS.join(', ')}`);
  const isValue = value === undefined || isOperand(value);
  if (!isValue) problems.add('/value', 'must be a text of at most 1000 characters, a number, true or false');
  const areValues =
    values === undefined ||
    (Array.isArray(values) && values.length > 0 && values.length <= 100 && values.every(isOperand));
  if (!areValues) problems.add('/values', 'must be a list of 1 to 100 texts, numbers, true or false');
  return isKnown && isValue && areValues;
}

function isOperand(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 1_000;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** The field that is summed, listed and so on. */
export function checkField(value: unknown, path: string, problems: ProblemList): void {
  if (typeof value !== 'string' || !isRuleField(value)) problems.add(path, RULE_FIELD_PROBLEM);
}
