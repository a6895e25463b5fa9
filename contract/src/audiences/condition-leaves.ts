import type { AudienceLeaf, Condition, EventLeaf, Leaf, TraitLeaf } from './definition.ts';

/** The leaves of a condition in the order of their text, each with its place: `/all/1/not`. */
export function leavesOf(condition: Condition, path = ''): { path: string; leaf: Leaf }[] {
  if ('all' in condition) return condition.all.flatMap((each, at) => leavesOf(each, `${path}/all/${at}`));
  if ('any' in condition) return condition.any.flatMap((each, at) => leavesOf(each, `${path}/any/${at}`));
  if ('not' in condition) return leavesOf(condition.not, `${path}/not`);
  return [{ path, leaf: condition }];
}

export function isTraitLeaf(leaf: Leaf): leaf is TraitLeaf {
  return 'trait' in leaf;
}

export function isAudienceLeaf(leaf: Leaf): leaf is AudienceLeaf {
  return 'audience' in leaf;
}

export function isEventLeaf(leaf: Leaf): leaf is EventLeaf {
  return !isTraitLeaf(leaf) && !isAudienceLeaf(leaf);
}

/** The ids of the audiences that a condition asks for, each once. */
export function audiencesIn(condition: Condition): string[] {
  const ids = leavesOf(condition).flatMap(({ leaf }) => (isAudienceLeaf(leaf) ? [leaf.audience] : []));
  return [...new Set(ids)];
}
