export { type CheckedDefinition, checkDefinition } from './check-definition.ts';
export { referenceProblems } from './check-references.ts';
export { audiencesIn, isAudienceLeaf, isEventLeaf, isTraitLeaf, leavesOf } from './condition-leaves.ts';
export * from './definition.ts';
export { definitionKey } from './key.ts';
export { amountOf, compareValues, keptTrait, keptValue, millionthsOf } from './kept-value.ts';
export { isPlaceholderId } from './placeholder-ids.ts';
export type { DefinitionProblem } from './problem-list.ts';
export { bucketOf, countsUntil, MAX_WINDOW_DAYS, parseWindow, resolutionOf } from './window.ts';
