import type { FilterRule } from '@millrace/contract';
import {
  checkDefinition,
  COMPUTATIONS,
  type Condition,
  type Definition,
  type EventSelection,
} from '@millrace/contract/audiences';
import type { Dice } from './dice.ts';

export const EVENT_NAMES = ['Order Completed', 'Product Viewed', 'Refund Requested', 'Signed Up'];
export const SOURCES = ['src_web', 'src_app'];
export const CATEGORIES = ['shoes', 'hats', 'bags', 'coats'];
export const PLANS = ['free', 'pro', 'team'];
/** Where ranges begin and end; some events happen right there. */
export const BORDERS = ['2026-05-20', '2026-06-01', '2026-06-02', '2026-09-01'].map((day) => Date.parse(day));
/** Around every change of resolution: 3 days, 90 days. */
const WINDOWS = ['1m', '5m', '90m', '24h', '3d', '73h', '7d', '30d', '90d', '91d', '365d'];

/** A valid definition over the events of random histories. `audiences` are ids that it may ask for. */
export function randomDefinition(dice: Dice, name: string, audiences: readonly string[]): Definition {
  const shared = {
    name,
    ...(dice.isWithin(0.25) ? { sources: [dice.pick(SOURCES)] } : {}),
    ...(dice.isWithin(0.3) ? { includeAnonymous: true } : {}),
    ...(dice.isWithin(0.2) ? { settleSeconds: dice.whole(0, 100) } : {}),
  };
  return valid(
    dice.isWithin(0.7)
      ? { ...shared, kind: 'audience', when: condition(dice, audiences, dice.whole(1, 3)) }
      : { ...shared, kind: 'trait', ...traitFields(dice) },
  );
}

/** The same with one change, as most edits are: other windows, another selection of a trait, one more part of an audience. */
export function editedDefinition(dice: Dice, definition: Definition): Definition {
  if (dice.isWithin(0.5)) return withOtherWindows(dice, definition);
  if (definition.kind === 'trait') {
    const { kind, name, sources, includeAnonymous, settleSeconds, compute, field } = definition;
    const kept = { kind, name, sources, includeAnonymous, settleSeconds, compute, field };
    return valid(JSON.parse(JSON.stringify({ ...kept, ...selection(dice) })));
  }
  const part = condition(dice, [], 1);
  const when: Condition = dice.isWithin(0.5) ? { all: [definition.when, part] } : { any: [part, definition.when] };
  const edited = { ...definition, when };
  return checkDefinition(edited).ok ? edited : definition;
}

function withOtherWindows(dice: Dice, definition: Definition): Definition {
  const text = JSON.stringify(definition, (name, value: unknown) => (name === 'window' ? dice.pick(WINDOWS) : value));
  return valid(JSON.parse(text));
}

function valid(definition: unknown): Definition {
  const checked = checkDefinition(definition);
  if (!checked.ok) throw new Error(`A random definition is wrong: ${JSON.stringify([definition, checked.problems])}`);
  return checked.value;
}

function condition(dice: Dice, audiences: readonly string[], levels: number): Condition {
  if (levels > 1 && dice.isWithin(0.7)) {
    const parts = Array.from({ length: dice.whole(1, 3) }, () => condition(dice, audiences, levels - 1));
    if (dice.isWithin(0.2)) return { not: condition(dice, audiences, levels - 1) };
    return dice.isWithin(0.5) ? { all: parts } : { any: parts };
  }
  if (dice.isWithin(0.15)) return traitLeaf(dice);
  if (audiences.length > 0 && dice.isWithin(0.15)) return { audience: dice.pick(audiences) };
  const isNegated = levels > 1 && dice.isWithin(0.3);
  const leaf = { ...selection(dice), ...comparison(dice) };
  return isNegated ? { not: leaf } : leaf;
}

function traitLeaf(dice: Dice): Condition {
  return dice.pick<Condition>([
    { trait: 'plan', op: 'equals', value: dice.pick(PLANS) },
    { trait: 'plan', op: 'not_one_of', values: ['free'] },
    { trait: 'age', op: 'greater', value: dice.whole(18, 60) },
    { trait: 'address.city', op: 'exists' },
    { trait: 'address.city', op: 'equals', value: 'Bern' },
  ]);
}

function selection(dice: Dice): EventSelection {
  const kinds: EventSelection[] = [
    { event: dice.pick(EVENT_NAMES) },
    { event: dice.pick(EVENT_NAMES) },
    { event: dice.pick(EVENT_NAMES) },
    { type: 'page' },
    { type: 'page', event: 'Pricing' },
    { type: 'screen', event: 'Home' },
    { type: 'identify' },
    { type: 'track' },
  ];
  const where = dice.isWithin(0.3) ? { where: [rule(dice)] } : {};
  return { ...dice.pick(kinds), ...where, ...range(dice) };
}

function range(dice: Dice): EventSelection {
  const chance = dice.next();
  if (chance < 0.7) return { window: dice.pick(WINDOWS) };
  if (chance < 0.85) return {};
  const first = dice.whole(0, BORDERS.length - 2);
  const [from = 0, ...later] = BORDERS.slice(first);
  return { between: { from: new Date(from).toISOString(), to: new Date(dice.pick(later)).toISOString() } };
}

function rule(dice: Dice): FilterRule {
  return dice.pick<FilterRule>([
    { field: 'properties.category', op: 'equals', value: dice.pick(CATEGORIES) },
    { field: 'properties.category', op: 'not_equals', value: dice.pick(CATEGORIES) },
    { field: 'properties.revenue', op: 'greater', value: dice.whole(0, 60) },
    { field: 'properties.gift', op: 'exists' },
    { field: 'context.locale', op: 'starts_with', value: 'de' },
  ]);
}

function comparison(dice: Dice): object {
  const aggregate = dice.pick(['count', 'count', 'sum', 'min', 'max', 'average']);
  const bound = aggregate === 'count' ? dice.whole(1, 4) : dice.whole(-40, 240) / 2;
  const bounds = dice.pick<object>([
    { atLeast: bound },
    { atLeast: bound },
    { lessThan: bound },
    { exactly: bound },
    { atLeast: bound, lessThan: bound + dice.whole(1, 50) },
  ]);
  return aggregate === 'count' ? bounds : { [aggregate]: 'properties.revenue', ...bounds };
}

function traitFields(dice: Dice): object {
  const compute = dice.pick([...COMPUTATIONS, 'unique_list', 'unique_list'] as const);
  const numbers = ['sum', 'average', 'min', 'max'].includes(compute);
  const fields = ['properties.category', 'properties.revenue', 'properties.gift'];
  if (compute === 'first' || compute === 'last') fields.push('timestamp');
  const field = compute === 'count' ? {} : { field: numbers ? 'properties.revenue' : dice.pick(fields) };
  return { compute, ...field, ...selection(dice) };
}
