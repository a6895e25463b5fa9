import { type FilterRule } from '../filter.ts';
import { ruleProblems } from '../filter-rule.ts';
import { MAX_AMOUNT, MAX_CONDITION_DEPTH, MAX_LEAVES } from './definition.ts';
import { checkField, checkOperands, checkSelection, SELECTION_FIELDS } from './check-event-selection.ts';
import { checkText, isObject, type ProblemList, refuseOthers, type UntrustedObject } from './problem-list.ts';

const AGGREGATES = ['sum', 'min', 'max', 'average'];
const COMPARISONS = ['atLeast', 'lessThan', 'exactly'];
const EVENT_LEAF_FIELDS = [...SELECTION_FIELDS, ...AGGREGATES, ...COMPARISONS];
const MAX_TRAIT_CHARACTERS = 200;
/** A profile keeps no deeper parts of traits: see keptTrait. */
const MAX_TRAIT_STEPS = 3;

export function checkCondition(value: unknown, problems: ProblemList): void {
  const leaves = checkLevel(value, 1, problems);
  if (leaves > MAX_LEAVES) problems.add('', `has ${leaves} leaves: a definition may have ${MAX_LEAVES}`);
}

/** Gives the number of leaves. */
function checkLevel(value: unknown, depth: number, problems: ProblemList): number {
  if (!isObject(value)) {
    problems.add('', 'must be a condition such as {"event": "Order Completed", "atLeast": 1}');
    return 0;
  }
  if (depth > MAX_CONDITION_DEPTH) {
    problems.add('', `is too deep: a condition may have ${MAX_CONDITION_DEPTH} levels`);
    return 0;
  }
  if (value['all'] !== undefined) return checkGroup('all', value, depth, problems);
  if (value['any'] !== undefined) return checkGroup('any', value, depth, problems);
  if (value['not'] !== undefined) {
    refuseOthers(value, ['not'], problems);
    return checkLevel(value['not'], depth + 1, problems.at('/not'));
  }
  checkLeaf(value, problems);
  return 1;
}

function checkGroup(name: 'all' | 'any', value: UntrustedObject, depth: number, problems: ProblemList): number {
  refuseOthers(value, [name], problems);
  const parts = value[name];
  if (!Array.isArray(parts) || parts.length === 0) {
    problems.add(`/${name}`, 'must be a list of one or more conditions');
    return 0;
  }
  let leaves = 0;
  for (const [at, part] of parts.entries()) leaves += checkLevel(part, depth + 1, problems.at(`/${name}/${at}`));
  return leaves;
}

function checkLeaf(value: UntrustedObject, problems: ProblemList): void {
  if (value['trait'] !== undefined) checkTraitLeaf(value, problems);
  else if (value['audience'] !== undefined) checkAudienceLeaf(value, problems);
  else checkEventLeaf(value, problems);
}

function checkTraitLeaf(value: UntrustedObject, problems: ProblemList): void {
  refuseOthers(value, ['trait', 'op', 'value', 'values'], problems);
  const message = checkText(value['trait'], MAX_TRAIT_CHARACTERS);
  if (message !== undefined) problems.add('/trait', message);
  if (!checkOperands(value, problems) || message !== undefined) return;
  if (String(value['trait']).split('.').length > MAX_TRAIT_STEPS) problems.add('/trait', TRAIT_PROBLEM);
  const rule = { ...value, field: `traits.${String(value['trait'])}` };
  for (const [path, message] of ruleProblems(rule as unknown as FilterRule))
    problems.add(path === '/field' ? '/trait' : path, path === '/field' ? TRAIT_PROBLEM : message);
}

const TRAIT_PROBLEM = `must be the name of a trait, such as plan, or a path of at most ${MAX_TRAIT_STEPS} names, such as address.city`;

function checkAudienceLeaf(value: UntrustedObject, problems: ProblemList): void {
  refuseOthers(value, ['audience'], problems);
  const message = checkText(value['audience'], 100);
  if (message !== undefined) problems.add('/audience', message);
}

function checkEventLeaf(value: UntrustedObject, problems: ProblemList): void {
  refuseOthers(value, EVENT_LEAF_FIELDS, problems);
  checkSelection(value, problems);
  const [aggregate, ...others] = AGGREGATES.filter((name) => value[name] !== undefined);
  if (aggregate !== undefined) checkField(value[aggregate], `/${aggregate}`, problems);
  for (const other of others) problems.add(`/${other}`, `cannot stand beside ${aggregate}: choose one`);
  checkComparison(value, aggregate === undefined, problems);
}

function checkComparison(value: UntrustedObject, isCount: boolean, problems: ProblemList): void {
  const given = COMPARISONS.filter((name) => value[name] !== undefined);
  if (given.length === 0) problems.add('/atLeast', 'is needed, or lessThan, or exactly');
  if (given.length > 1 && given.includes('exactly')) problems.add('/exactly', 'cannot stand beside another comparison');
  for (const name of given) {
    const message = numberProblem(value[name], isCount);
    if (message !== undefined) problems.add(`/${name}`, message);
  }
  const { atLeast, lessThan } = value;
  if (typeof atLeast === 'number' && typeof lessThan === 'number' && lessThan <= atLeast)
    problems.add('/lessThan', 'must be greater than atLeast');
  if (isCount && atLeast === 0) problems.add('/atLeast', 'holds for everybody: use 1 or more');
  if (isCount && lessThan === 0) problems.add('/lessThan', 'holds for nobody: use 1 or more');
}

function numberProblem(value: unknown, isCount: boolean): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (Math.abs(value) > MAX_AMOUNT) return 'must be between -10^15 and 10^15';
  if (isCount && (!Number.isInteger(value) || value < 0)) return 'must be a whole number: it is compared with a count';
  return undefined;
}
