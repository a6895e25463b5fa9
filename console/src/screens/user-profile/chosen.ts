/** The audience or trait that the page explains: the one of the URL, else the first that the user is in. */
import type { Definition, Profile } from '@millrace/contract/control';
import type { Chosen } from './profile-words.ts';

export type ChosenMembership = Chosen & { id: string };

export function chosenOf(
  { memberships }: Profile,
  definitions: readonly Definition[],
  wanted: string | undefined,
): ChosenMembership | undefined {
  const id = wanted ?? memberships[0]?.definitionId ?? definitions[0]?.id;
  const membership = memberships.find(({ definitionId }) => definitionId === id);
  const definition = definitions.find((each) => each.id === id);
  const known = membership ?? definition;
  if (id === undefined || known === undefined) return undefined;
  return { id, name: known.name, kind: known.kind, membership };
}
