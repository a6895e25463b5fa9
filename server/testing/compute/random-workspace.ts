import { type Definition, isEventLeaf, isTraitLeaf, leavesOf } from '@millrace/contract/audiences';
import { isInTiles } from '../../src/compute/fold/backfill.ts';
import { compilePlan, type DefinitionInPlan } from '../../src/compute/fold/compile-plan.ts';
import {
  assignSlots,
  needOfEventLeaf,
  needOfTrait,
  needOfTraitLeaf,
  needsOf,
  type StoredMeasure,
} from '../../src/compute/fold/measure-need.ts';
import type { Plan } from '../../src/compute/fold/plan.ts';
import type { Dice } from './dice.ts';
import type { OracleDefinition } from './oracle-values.ts';
import { editedDefinition, randomDefinition, SOURCES } from './random-definitions.ts';

const HOUR_MS = 3_600_000;

/** The definitions of a workspace, which change at random: made, edited (the new version is folded for a while first), deleted. */
export type RandomWorkspace = {
  readonly plan: Plan;
  forOracle(): OracleDefinition[];
  /** `received`: the number of events so far. Gives the number of a definition that is gone now. */
  change(received: number): number | undefined;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openRandomWorkspace(dice: Dice, count: number, firstNumber = 1): RandomWorkspace {
  let version = 0;
  let nextSlot = 1;
  let nextNumber = firstNumber;
  let definitions: DefinitionInPlan[] = [];
  /** The first event that each slot counts. */
  const starts = new Map<number, number>();
  /** Begun by the version that was made last. */
  const newSlots = new Set<number>();
  let plan: Plan;

  /** From now on evaluated: measures that this version began get their past from the tiles where these have it to the hour. */
  function filled(made: DefinitionInPlan, received: number): DefinitionInPlan {
    const needs = needsOf(made.definition);
    const measures = made.measures.map((measure) => {
      const need = needs.find(({ id }) => id === measure.id);
      const isBegun = received > 0 && newSlots.has(measure.slot);
      if (!isBegun || need === undefined || !isInTiles(need) || need.resolutionMs > HOUR_MS) return measure;
      starts.set(measure.slot, 0);
      return { ...measure, past: { fill: { since: version, sources: need.sources ?? SOURCES } } };
    });
    newSlots.clear();
    return { ...made, measures, use: 'evaluated', changed: version };
  }

  function measuresOf(definition: Definition, received: number): StoredMeasure[] {
    const measures = assignSlots(
      definition,
      definitions.flatMap(({ measures }) => measures),
      nextSlot,
    );
    for (const { slot } of measures) {
      nextSlot = Math.max(nextSlot, slot + 1);
      if (!starts.has(slot)) {
        starts.set(slot, received);
        newSlots.add(slot);
      }
    }
    return measures;
  }

  function add(number: number, received: number, others: Partial<DefinitionInPlan>): void {
    const audiences = definitions.filter(
      (each) => each.number < number && each.definition.kind === 'audience' && each.use === 'evaluated',
    );
    const ids = audiences.map(({ id }) => id);
    const definition = others.definition ?? randomDefinition(dice, `D ${number}`, ids);
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
    definitions.push(made.use === 'evaluated' && received > 0 ? filled(made, received) : made);
  }

  function edit(received: number): void {
    const { number, version: before, definition } = dice.pick(definitions);
    const hadKind = definition.kind;
    const slightly = dice.isWithin(0.5) ? { definition: editedDefinition(dice, definition) } : {};
    add(number, received, { version: before + 1, use: 'folded', ...slightly });
    // The kind of a definition never changes.
    if (definitions.at(-1)?.definition.kind !== hadKind) definitions.pop();
    else if (dice.isWithin(0.5)) goLive(number, received);
  }

  function goLive(number: number, received: number): void {
    const [old, edited] = definitions.filter((each) => each.number === number);
    if (old === undefined || edited === undefined) return;
    definitions = definitions
      .map((each) => (each === edited ? filled(edited, received) : each))
      .filter((each) => each !== old);
  }

  /**
   * An audience that others ask for is not deleted, as in the API. Its members leave first, or are left as they are: then it is gone
   * at once.
   */
  function leave(): number | undefined {
    const asked = JSON.stringify(definitions.map(({ definition }) => definition));
    const free = definitions.filter(
      ({ id, number }) =>
        !asked.includes(`"${id}"`) && definitions.filter((each) => each.number === number).length === 1,
    );
    const gone = free.length === 0 ? undefined : dice.pick(free);
    if (dice.isWithin(0.5)) {
      definitions = definitions.filter((each) => each !== gone);
      return gone?.number;
    }
    definitions = definitions.map((each) =>
      each === gone ? { ...each, use: 'leaving' as const, changed: version } : each,
    );
    return undefined;
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
      let gone = leaving?.number;
      if (leaving !== undefined) definitions = definitions.filter((each) => each !== leaving);
      else if (waiting !== undefined) goLive(waiting.number, received);
      else if (definitions.length === 0 || dice.isWithin(0.4)) add(nextNumber++, received, {});
      else if (dice.isWithin(0.6)) edit(received);
      else gone = leave();
      plan = compilePlan(definitions, version);
      return gone;
    },
  };
}

function forOracle(
  { number, id, definition, version, changed, measures, use }: DefinitionInPlan,
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
  const isLeaving = use === 'leaving';
  const changeCause = version === 1 && !isLeaving ? 'backfill' : 'edit';
  return { number, id, definition, changed, changeCause, isLeaving, since: (path) => since.get(path) ?? 0 };
}
