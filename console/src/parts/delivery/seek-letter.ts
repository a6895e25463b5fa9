/** Finds the dead letter of a delivery, which does not know its letter. Pure. */
import type { DeadLetterItem } from '@millrace/contract/control';
import type { Page } from '../../api/queries.ts';

const MOST_PAGES = 3;

/** `hasMore` says that the letter may be on a later page. */
export type SoughtLetter = { letter: DeadLetterItem | undefined; hasMore: boolean };

export async function seekLetter(
  deliveryId: string,
  readPage: (cursor: string | undefined) => Promise<Page<DeadLetterItem>>,
): Promise<SoughtLetter> {
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, nextCursor } = await readPage(cursor);
    const letter = items.find((item) => item.deliveryId === deliveryId);
    if (letter !== undefined || nextCursor === null) return { letter, hasMore: false };
    cursor = nextCursor;
  }
  return { letter: undefined, hasMore: true };
}
