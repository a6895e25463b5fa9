/** From dead letters to a receiver that has them after all. */
import assert from 'node:assert/strict';
import { asker } from '../../find-ids.ts';
import { visit } from '../../visitor.ts';
import { waitFor } from '../../wait-for.ts';
import { openHand } from './hand.ts';
import { addSource, openReceiver } from './own-shop.ts';
import type { Place } from './place.ts';

export async function sendAgain({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver(401);
  const source = await addSource(stage, 'Newsletter');
  const destinationId = await source.addDestination({ name: 'Mailing list', url: receiver.url });
  const ask = asker(stage, stage.token);
  await source.send([1, 2, 3].map((number) => ({ userId: `cus_90${number}`, event: 'Newsletter Ordered' })));
  type Letters = { items: { deliveryId: string }[] };
  let letters: Letters = { items: [] };
  await waitFor('three deliveries were given up', async () => {
    letters = await ask<Letters>(`/dead-letters?destinationId=${destinationId}`);
    return letters.items.length === 3;
  });
  receiver.answerWith(200);

  await using person = await visit(browser, { url: stage.url, account: stage.accounts.admin });
  const { page } = person;
  await page.goto(`/destinations/${destinationId}`);
  const hand = openHand(page);
  await hand.click(page.getByRole('button', { name: 'Redrive 3…' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 dead letters').waitFor();
  await dialog.getByText('Receivers may see duplicates; the webhook-id stays the same.').waitFor();
  for (const { deliveryId } of letters.items) await dialog.getByTitle(deliveryId).waitFor();
  await hand.click(dialog.getByRole('button', { name: 'Redrive 3', exact: true }));
  await page.getByText('3 deliveries of 3 made again').waitFor();
  await page.getByText('Done', { exact: true }).waitFor();
  hand.arrive(t, { clicks: 2, seconds: 60 });

  const again = () => receiver.received.slice(3).map(({ headers }) => headers['webhook-id']);
  await waitFor('the receiver has them', () => again().length === 3);
  assert.deepEqual(new Set(again()), new Set(letters.items.map(({ deliveryId }) => deliveryId)));

  await page.goto('/team?tab=audit');
  const entry = page.getByRole('row').filter({ hasText: 'started a redrive of dead letters' }).first();
  await entry.filter({ hasText: /Jonas Beck[^]*Mailing list/ }).waitFor();
  assert.deepEqual(person.complaints, []);
}
