import { type Definition, isEventLeaf, isTraitLeaf, leavesOf } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from '../../src/compute/fold/compile-plan.ts';
import {
  assignSlots,
  needOfEventLeaf,
  needOfTrait,
  needOfTraitLeaf,
  type StoredMeasure,
} from '../../src/compute/fold/measure-need.ts';
import type { Plan } from '../../src/compute/fold/plan.ts';
import type { Dice } from './dice.ts';
import type { OracleDefinition } from './oracle-values.ts';
import { randomDefinition } from './random-definitions.ts';

/** The definitions of a workspace, which change at random: made, edited (the new version is folded for a while first), deleted. */
export type RandomWorkspace = {
  readonly plan: Plan;
  forOracle(): OracleDefinition[];
  /** `received`: the number of events so far. Gives the number of a definition that is gone now. */
  change(received: number): number | undefined;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openRandomWorkspace(dice: Dice, count: number): RandomWorkspace {
  let version = 0;
  let nextSlot = 1;
  let nextNumber = 1;
  let definitions: DefinitionInPlan[] = [];
  /** The first event that each slot counts. */
  const starts = new Map<number, number>();
  let plan: Plan;

  function measuresOf(definition: Definition, received: number): StoredMeasure[] {
    const measures = assignSlots(
      definition,
      definitions.flatMap(({ measures }) => measures),
      nextSlot,
    );
    for (const { slot } of measures) {
      nextSlot = Math.max(nextSlot, slot + 1);
      if (!starts.has(slot)) starts.set(slot, received);
    }
    return measures;
  }

  function add(number: number, received: number, others: Partial<DefinitionInPlan>): void {
    const audiences = definitions.filter(
      (each) => each.number < number && each.definition.kind === 'audience' && each.use === 'evaluated',
    );
    const definition = randomDefinition(
      dice,
      `D ${number}`,
      audiences.map(({ id }) => id),
    );
    const measures = measuresOf(definition, received);
    const made: DefinitionInPlan = {
      number,
      id: `aud_${number}`,
      definition,
      version: 1,
      changed: version,
      measures,
      use: 'evaluated',
      ...others,
    };
    definitions.push(made);
  }

  function edit(received: number): void {
    const { number, version: before, definition } = dice.pick(definitions);
    const hadKind = definition.kind;
    add(number, received, { version: before + 1, use: 'folded' });
    // The kind of a definition never changes.
    if (definitions.at(-1)?.definition.kind !== hadKind) definitions.pop();
    else if (dice.isWithin(0.5)) goLive(number);
  }

  function goLive(number: number): void {
    const [old, edited] = definitions.filter((each) => each.number === number);
    if (old === undefined || edited === undefined) return;
    definitions = definitions.map((each) =>
      each === edited ? { ...edited, use: 'evaluated' as const, changed: version } : each,
    );
    definitions = definitions.filter((each) => each !== old);
  }

  /** An audience that others ask for is not deleted, as in the API. */
  function leave(): void {
    const asked = JSON.stringify(definitions.map(({ definition }) => definition));
    const free = definitions.filter(
      ({ id, number }) =>
        !asked.includes(`"${id}"`) && definitions.filter((each) => each.number === number).length === 1,
    );
    const gone = free.length === 0 ? undefined : dice.pick(free);
    definitions = definitions.map((each) =>
      each === gone ? { ...each, use: 'leaving' as const, changed: version } : each,
    );
  }

  for (let n = 0; n < count; n += 1) add(nextNumber++, 0, { changed: 1 });
  version = 1;
  plan = compilePlan(definitions, version);

  return {
    get plan() {
      return plan;
    },
    forOracle: () =>
      definitions
        .filter(({ use }) => use !== 'folded')
        .toSorted((a, b) => a.number - b.number)
        .map((each) => forOracle(each, starts)),
    change(received) {
      version += 1;
      const leaving = definitions.find(({ use }) => use === 'leaving');
      const waiting = definitions.find(({ use }) => use === 'folded');
      if (leaving !== undefined) definitions = definitions.filter((each) => each !== leaving);
      else if (waiting !== undefined) goLive(waiting.number);
      else if (definitions.length === 0 || dice.isWithin(0.4)) add(nextNumber++, received, {});
      else if (dice.isWithin(0.6)) edit(received);
      else leave();
      plan = compilePlan(definitions, version);
      return leaving?.number;
    },
  };
}

function forOracle(
  { number, id, definition, changed, measures, use }: DefinitionInPlan,
  starts: ReadonlyMap<number, number>,
): OracleDefinition {
  const startOf = (needId: string | undefined) =>
    starts.get(measures.find((each) => each.id === needId)?.slot ?? 0) ?? 0;
  const since = new Map<string, number>();
  if (definition.kind === 'trait') since.set('', startOf(needOfTrait(definition).id));
  else {
    for (const { path, leaf } of leavesOf(definition.when)) {
      if (isEventLeaf(leaf)) since.set(path, startOf(needOfEventLeaf(leaf, definition.sources).id));
      else if (isTraitLeaf(leaf)) since.set(path, startOf(needOfTraitLeaf(leaf, definition.sources)?.id));
    }
  }
  return { number, id, definition, changed, isLeaving: use === 'leaving', since: (path) => since.get(path) ?? 0 };
}
