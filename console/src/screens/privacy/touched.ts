/** The data of a user that a deletion request would touch, as far as the record and the stored events tell. */
import type { Definition, Delivery, Destination, Source } from '@millrace/contract/control';
import { counted } from '../../format/numbers.ts';

export type Touched = {
  stored: { count: number; isExact: boolean };
  deliveries: { count: number; waiting: number; givenUp: number; isExact: boolean };
};

type Known = { destinations: readonly Destination[]; hasMoreDestinations: boolean };

export type Told = { told: Destination[]; notTold: Destination[] };

/** Destinations of the sources, and those of audiences and computed traits: an enabled one is told, a disabled one is not. */
export function destinationsTold(
  destinations: readonly Destination[],
  sources: readonly string[],
  definitions: readonly Pick<Definition, 'destinations'>[],
): Told {
  const attached = new Set(definitions.flatMap((each) => each.destinations));
  const own = destinations.filter(({ id, sourceId }) => sources.includes(sourceId) || attached.has(id));
  return { told: own.filter(({ enabled }) => enabled), notTold: own.filter(({ enabled }) => !enabled) };
}

/** "no destination", "CRM and Mail", and of which destinations while more of them follow than were read. */
export function toldWords(names: string, { destinations, hasMoreDestinations }: Known): string {
  const words = names === '' ? 'no destination' : names;
  return hasMoreDestinations ? `${words} (of the first ${counted(destinations.length, 'destination')})` : words;
}

export function countDeliveries(
  deliveries: readonly Pick<Delivery, 'state'>[],
  isExact: boolean,
): Touched['deliveries'] {
  const of = (...states: Delivery['state'][]) => deliveries.filter(({ state }) => states.includes(state)).length;
  return { count: deliveries.length, waiting: of('pending', 'retrying'), givenUp: of('discarded', 'expired'), isExact };
}

export function atLeast({ count, isExact }: { count: number; isExact: boolean }, one: string, many?: string): string {
  return `${isExact ? '' : 'at least '}${counted(count, one, many)}`;
}

export function chosenSources(sources: readonly Source[], chosen: string): string[] {
  return chosen === '' ? sources.map(({ id }) => id) : [chosen];
}
