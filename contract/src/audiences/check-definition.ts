import { checkCondition } from './check-condition.ts';
import { checkField, checkSelection, SELECTION_FIELDS } from './check-event-selection.ts';
import { COMPUTATIONS, type Definition, MAX_DESTINATIONS, MAX_SETTLE_SECONDS, MAX_SOURCES } from './definition.ts';
import { definitionKey } from './key.ts';
import {
  checkList,
  checkText,
  type DefinitionProblem,
  isObject,
  problemList,
  type ProblemList,
  refuseOthers,
  type UntrustedObject,
} from './problem-list.ts';

export type CheckedDefinition = { ok: true; value: Definition } | { ok: false; problems: DefinitionProblem[] };

const MAX_KEY_CHARACTERS = 200;
const SHARED_FIELDS = ['kind', 'name', 'sources', 'destinations', 'includeAnonymous', 'settleSeconds'];
const AUDIENCE_FIELDS = [...SHARED_FIELDS, 'when'];
const TRAIT_FIELDS = [...SHARED_FIELDS, ...SELECTION_FIELDS, 'compute', 'field'];

/**
 * Everything that is wrong with a definition by itself. Whether its sources, destinations and audiences exist is a question
 * to the workspace: see referenceProblems.
 */
export function checkDefinition(value: unknown): CheckedDefinition {
  const found: DefinitionProblem[] = [];
  const problems = problemList(found);
  if (!isObject(value)) problems.add('', 'must be an object with kind, name and what it computes');
  else {
    checkShared(value, problems);
    if (value['kind'] === 'audience') checkAudience(value, problems);
    else if (value['kind'] === 'trait') checkTrait(value, problems);
    else problems.add('/kind', 'must be audience or trait');
  }
  return found.length === 0 ? { ok: true, value: value as Definition } : { ok: false, problems: found };
}

function checkShared(value: UntrustedObject, problems: ProblemList): void {
  const message = nameProblem(value['name']);
  if (message !== undefined) problems.add('/name', message);
  checkIds(value['sources'], MAX_SOURCES, problems.at('/sources'));
  if (Array.isArray(value['sources']) && value['sources'].length === 0)
    problems.add('/sources', 'must name a source; leave it out for all sources');
  checkIds(value['destinations'], MAX_DESTINATIONS, problems.at('/destinations'));
  const { includeAnonymous, settleSeconds } = value;
  if (includeAnonymous !== undefined && typeof includeAnonymous !== 'boolean')
    problems.add('/includeAnonymous', 'must be true or false');
  if (settleSeconds !== undefined && !isSettleSeconds(settleSeconds))
    problems.add('/settleSeconds', `must be a whole number from 0 to ${MAX_SETTLE_SECONDS}`);
}

function nameProblem(name: unknown): string | undefined {
  const message = checkText(name, 200);
  if (message !== undefined || typeof name !== 'string') return message;
  const key = definitionKey(name);
  if (key === '') return 'needs a letter or a digit: its key is made of them';
  // Compatibility forms grow: one sign can stand for eighteen letters.
  return key.length > MAX_KEY_CHARACTERS ? `makes a key of more than ${MAX_KEY_CHARACTERS} characters` : undefined;
}

function checkIds(value: unknown, most: number, problems: ProblemList): void {
  if (value === undefined) return;
  const message = checkList(value, most, 'ids');
  if (message !== undefined || !Array.isArray(value)) return problems.add('', message ?? '');
  for (const [at, id] of value.entries()) {
    const wrong = checkText(id, 100) ?? (value.indexOf(id) === at ? undefined : 'is there twice');
    if (wrong !== undefined) problems.add(`/${at}`, wrong);
  }
}

function isSettleSeconds(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_SETTLE_SECONDS;
}

function checkAudience(value: UntrustedObject, problems: ProblemList): void {
  refuseOthers(value, AUDIENCE_FIELDS, problems);
  if (value['when'] === undefined) problems.add('/when', 'is needed: the condition that members fulfil');
  else checkCondition(value['when'], problems.at('/when'));
}

function checkTrait(value: UntrustedObject, problems: ProblemList): void {
  refuseOthers(value, TRAIT_FIELDS, problems);
  const { compute, field } = value;
  checkSelection(value, problems);
  if (!COMPUTATIONS.some((each) => each === compute))
    return problems.add('/compute', `must be one of ${COMPUTATIONS.join(', ')}`);
  if (compute === 'count') {
    if (field !== undefined) problems.add('/field', 'is not for count, which counts events');
  } else if (field === undefined) problems.add('/field', `is needed by ${String(compute)}, such as properties.revenue`);
  else if (field === 'timestamp') {
    if (compute !== 'first' && compute !== 'last') problems.add('/field', 'can be timestamp for first and last only');
  } else checkField(field, '/field', problems);
}
