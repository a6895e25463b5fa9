/** Sources, destinations and definitions by id or by name, as people know them. */
import type { Definition, Destination, Source } from '@millrace/contract/control';
import { inline } from '../output/print.ts';
import { Failure } from '../output/failures.ts';
import type { Control } from './control.ts';

export async function findSource(control: Control, given: string): Promise<Source> {
  if (given.startsWith('src_')) return control.ask<Source>('GET', `/sources/${encodeURIComponent(given)}`);
  return oneNamed(await Array.fromAsync(control.list<Source>('/sources')), given, 'source');
}

export async function findDestination(control: Control, given: string): Promise<Destination> {
  if (given.startsWith('dst_')) return control.ask<Destination>('GET', `/destinations/${encodeURIComponent(given)}`);
  const found = oneNamed(await Array.fromAsync(control.list<Destination>('/destinations')), given, 'destination');
  return control.ask<Destination>('GET', `/destinations/${found.id}`);
}

/** An audience or a computed trait, also by its key. */
export async function findDefinition(control: Control, given: string): Promise<Definition> {
  if (/^(aud|trt)_[0-9a-f]{32}$/.test(given))
    return control.ask<Definition>('GET', `/definitions/${encodeURIComponent(given)}`);
  const all = await Array.fromAsync(control.list<Definition>('/definitions'));
  return all.find(({ key }) => key === given) ?? oneNamed(all, given, 'audience or computed trait');
}

type Named = { id: string; name: string };

/** The exact name wins; a name in other letters (upper and lower case) is taken if only one has it. */
export function oneNamed<Item extends Named>(items: readonly Item[], given: string, kind: string): Item {
  const exact = items.filter(({ name }) => name === given);
  const alike = exact.length > 0 ? exact : items.filter(({ name }) => name.toLowerCase() === given.toLowerCase());
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only;
  if (only === undefined) {
    const names = items.slice(0, 8).map(({ name }) => `"${name}"`);
    throw new Failure(`There is no ${kind} "${inline(given)}".`, {
      exit: 'notFound',
      todo:
        names.length === 0
          ? `The workspace has no ${kind} yet.`
          : inline(`There are: ${names.join(', ')}${items.length > 8 ? ' and others' : ''}.`),
    });
  }
  throw new Failure(`${alike.length} ${kind}s are called "${inline(given)}".`, {
    exit: 'usage',
    todo: `Give the id: ${alike.map(({ id }) => id).join(' or ')}.`,
  });
}
