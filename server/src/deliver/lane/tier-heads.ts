import type { Delivery } from '../../domain/delivery.ts';
import type { TakenChain, Taken } from './tier-group.ts';
import type { TierReader } from './tier-reader.ts';

/** The next delivery of a tier. */
type Head = { reader: TierReader; delivery: Delivery };

export async function headsOf(readers: readonly TierReader[]): Promise<Head[]> {
  const heads: Head[] = [];
  for (const reader of readers) {
    const delivery = await reader.head();
    if (delivery !== undefined) heads.push({ reader, delivery });
  }
  return heads;
}

export function oldest(heads: readonly Head[]): Head | undefined {
  let first = heads[0];
  for (const head of heads) if (first !== undefined && head.delivery.dueAt < first.delivery.dueAt) first = head;
  return first;
}

/** Takes those of its chain that are behind it. If NATS cannot show them, it stays in the lane as if it had not been taken. */
export async function chainBehind({ reader }: Head, taken: Taken): Promise<TakenChain> {
  try {
    return await reader.takeBehind();
  } catch (error) {
    taken.keep();
    throw error;
  }
}
