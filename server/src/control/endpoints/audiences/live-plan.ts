import type { Definition } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from '../../../compute/fold/compile-plan.ts';
import type { StoredMeasure } from '../../../compute/fold/measure-need.ts';
import type { Plan } from '../../../compute/fold/plan.ts';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';

/** The live version of every definition that is not being deleted. */
export function liveDefinitions(known: readonly KnownDefinition[]): DefinitionInPlan[] {
  return known.flatMap(({ number, id, state, versions }) =>
    versions
      .filter((each) => state === 'live' && each.state === 'live')
      .map(({ version, body, measures }) => ({
        number,
        id,
        definition: body as Definition,
        version,
        changed: 0,
        measures: measures as StoredMeasure[],
        use: 'evaluated' as const,
      })),
  );
}

/** For reading: it is never older than a profile, and must not be folded with. */
export function livePlan(known: readonly KnownDefinition[]): Plan {
  return compilePlan(liveDefinitions(known), 0);
}
