import { audiencesIn, isAudienceLeaf, leavesOf } from './condition-leaves.ts';
import type { Definition } from './definition.ts';
import type { DefinitionProblem } from './problem-list.ts';

/**
 * The problems with the audiences that a definition asks for, given the others of its workspace by id. An audience that would
 * come to ask for itself has no answer, so it is refused; `id` is undefined for a definition that is being made.
 */
export function referenceProblems(
  definition: Definition,
  id: string | undefined,
  others: ReadonlyMap<string, Definition>,
): DefinitionProblem[] {
  if (definition.kind === 'trait') return [];
  return leavesOf(definition.when, '/when').flatMap(({ path, leaf }) => {
    if (!isAudienceLeaf(leaf)) return [];
    const message = audienceProblem(leaf.audience, id, others);
    return message === undefined ? [] : [{ path: `${path}/audience`, message }];
  });
}

function audienceProblem(
  asked: string,
  id: string | undefined,
  others: ReadonlyMap<string, Definition>,
): string | undefined {
  if (asked === id) return 'is this audience itself';
  const other = others.get(asked);
  if (other === undefined) return 'is not an audience of this workspace';
  if (other.kind !== 'audience') return 'is a computed trait, not an audience';
  return id !== undefined && reaches(asked, id, others) ? `asks for this audience itself, by way of others` : undefined;
}

function reaches(from: string, to: string, others: ReadonlyMap<string, Definition>): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    const definition = others.get(at);
    if (seen.has(at) || definition?.kind !== 'audience') continue;
    seen.add(at);
    open.push(...audiencesIn(definition.when));
  }
  return false;
}
