import { hash } from 'node:crypto';
import type { SendingTransition } from './profile-store.ts';

/**
 * The messageId of the call that tells a transition. A repeat has the same one, and so the same `webhook-id`. The sequences of an erased
 * user who comes back begin again: the time of the erasure keeps their ids from being taken for the earlier ones.
 */
export function messageIdOf(named: Pick<SendingTransition, 'definitionId' | 'key' | 'sequence' | 'erasedAt'>): string {
  const { definitionId, key, sequence, erasedAt } = named;
  const facts = [definitionId, key, sequence, ...(erasedAt === undefined ? [] : [erasedAt])];
  return `cmp_${hash('sha256', facts.join('\n'), 'base64url').slice(0, 27)}`;
}
