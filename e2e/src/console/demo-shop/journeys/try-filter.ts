/** A filter that is tried on history, then saved. */
import assert from 'node:assert/strict';
import { asker } from '../../find-ids.ts';
import { visit } from '../../visitor.ts';
import { waitFor } from '../../wait-for.ts';
import { openHand } from './hand.ts';
import { addSource, openReceiver, untilInUse } from './own-shop.ts';
import type { Place } from './place.ts';

export async function tryFilter({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver();
  const source = await addSource(stage, 'Till');
  const destinationId = await source.addDestination({ name: 'Large sales', url: receiver.url });
  const sold = (total: number) => ({ userId: 'cus_1', event: 'Sold', properties: { total } });
  await source.send([42, 150, 99, 260].map(sold));
  await waitFor('all are delivered without a filter', () => receiver.received.length === 4);

  await using person = await visit(browser, { url: stage.url, account: stage.accounts.developer });
  const { page } = person;
  await page.goto(`/destinations/${destinationId}`);
  const hand = openHand(page);
  await hand.click(page.getByRole('navigation').getByRole('link', { name: 'Settings' }));
  await page.getByText('4 of 4 would be sent,').waitFor();
  await hand.click(page.getByRole('button', { name: 'Add a rule' }));
  await hand.type(page.getByLabel('Field of rule 1'), 'properties.total');
  await hand.choose(page.getByLabel('Comparison of rule 1'), 'greater than');
  await hand.type(page.getByLabel('Value of rule 1'), '100');
  await page.getByText('2 of 4 would be sent,').waitFor();
  for (const total of [42, 99]) await page.getByText(`rule 1: ${total} is not greater than 100`).waitFor();
  assert.equal(receiver.received.length, 4, 'a preview sends nothing');
  await hand.click(page.getByRole('button', { name: 'Save the changes' }));
  await page.getByText('Saved. Deliver uses it within seconds.').waitFor();
  hand.arrive(t, { clicks: 7, seconds: 60 });

  const ask = asker(stage, stage.token);
  await untilInUse(stage, destinationId);
  await source.send([20, 300].map(sold));
  type Skipped = { items: { state: string }[] };
  await waitFor('one event is held back', async () => {
    const { items } = await ask<Skipped>(`/deliveries?destinationId=${destinationId}&state=skipped`);
    return items.length === 1;
  });
  await waitFor('the other is delivered', () => receiver.received.length === 5);
  assert.match(receiver.received[4]?.body ?? '', /"total":300/);
  assert.deepEqual(person.complaints, []);
}
