import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeadLetterItem } from '@millrace/contract/control';
import { seekLetter } from './seek-letter.ts';

test('a dead letter is found on a later page', async () => {
  const found = await seekLetter('dlv_2', pages(['dlv_0'], ['dlv_1'], ['dlv_2'], ['dlv_3']));
  assert.equal(found.letter?.deliveryId, 'dlv_2');
});

test('after three pages the letter may still be there; after the last one it is not', async () => {
  const pagesOfFour = pages(['dlv_0'], ['dlv_1'], ['dlv_2'], ['dlv_3']);
  assert.deepEqual(await seekLetter('dlv_3', pagesOfFour), { letter: undefined, hasMore: true });
  assert.deepEqual(await seekLetter('dlv_3', pages(['dlv_0'], [])), { letter: undefined, hasMore: false });
});

function pages(...all: string[][]) {
  return async (cursor: string | undefined) => {
    const place = Number(cursor ?? 0);
    const items = (all[place] ?? []).map((deliveryId) => ({ id: `letter of ${deliveryId}`, deliveryId }));
    return { items: items as DeadLetterItem[], nextCursor: place + 1 < all.length ? String(place + 1) : null };
  };
}
