import type { Definition } from '@millrace/contract/audiences';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';
import { audiencesOf, definitionOf } from './checked-definition.ts';

type Completeness = { completeFrom: Date | null; incompleteSince: Date | null };

/** A definition lacks what the audiences lack that it asks for, and those that these ask for. */
export function completenessOf(row: KnownDefinition, known: readonly KnownDefinition[]): Completeness {
  return together([row, ...askedBy(definitionOf(row), known)]);
}

/** The same for a definition that is not stored. */
export function completenessOfAsked(definition: Definition, known: readonly KnownDefinition[]): Completeness {
  return together(askedBy(definition, known));
}

function askedBy(definition: Definition, known: readonly KnownDefinition[]): Set<KnownDefinition> {
  const byId = new Map(known.map((each) => [each.id, each]));
  const asked = new Set<KnownDefinition>();
  const open = [definition];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const id of audiencesOf(at)) {
      const other = byId.get(id);
      if (other === undefined || asked.has(other)) continue;
      asked.add(other);
      open.push(definitionOf(other));
    }
  }
  return asked;
}

function together(rows: Iterable<KnownDefinition>): Completeness {
  const all = [...rows];
  const froms = all.flatMap(({ complete_from: from }) => from?.getTime() ?? []);
  const sinces = all.flatMap(({ incomplete_since: since }) => since?.getTime() ?? []);
  return {
    completeFrom: froms.length === 0 ? null : new Date(Math.max(...froms)),
    incompleteSince: sinces.length === 0 ? null : new Date(Math.min(...sinces)),
  };
}
