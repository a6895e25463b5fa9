import type { FilterOp } from '@millrace/contract';
import { isAudienceLeaf, isTraitLeaf, type Leaf, type TraitLeaf } from '@millrace/contract/audiences';

/** The bounds of a leaf in words: `at least 500`. */
export function tellThreshold(leaf: Leaf): string {
  if (isAudienceLeaf(leaf)) return 'a member';
  if (isTraitLeaf(leaf)) return tellOperands(leaf);
  const { atLeast, lessThan, exactly } = leaf;
  if (exactly !== undefined) return `exactly ${exactly}`;
  return [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(lessThan === undefined ? [] : [`less than ${lessThan}`]),
  ].join(' and ');
}

const WORDS: Readonly<Partial<Record<FilterOp, string>>> = { exists: 'is there', not_exists: 'is not there' };

function tellOperands({ op, value, values }: TraitLeaf): string {
  const operands = values ?? (value === undefined ? [] : [value]);
  const word = WORDS[op] ?? op.replaceAll('_', ' ');
  return [word, operands.map((each) => JSON.stringify(each)).join(', ')].filter((part) => part !== '').join(' ');
}
