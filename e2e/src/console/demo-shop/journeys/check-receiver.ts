/** A receiver that takes everything, found out. */
import assert from 'node:assert/strict';
import { visit } from '../../visitor.ts';
import { openHand } from './hand.ts';
import { addSource, openReceiver } from './own-shop.ts';
import type { Place } from './place.ts';

export async function checkReceiver({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver();
  const source = await addSource(stage, 'Helpdesk');
  const destinationId = await source.addDestination({ name: 'Trusts everybody', url: receiver.url });
  await using person = await visit(browser, { url: stage.url, account: stage.accounts.developer });
  const { page } = person;
  await page.goto(`/destinations/${destinationId}`);
  const hand = openHand(page);
  await hand.click(page.getByRole('link', { name: 'Test and check-up' }));
  await hand.click(page.getByText('Check-up', { exact: true }).first());
  await hand.click(page.getByRole('button', { name: 'Start the check-up' }));
  await page.getByText('The receiver must be changed before events go to it').waitFor();
  const row = await page.getByRole('row').filter({ hasText: 'wrong_signature' }).innerText();
  assert.match(row, /accepts a call with a wrong signature: anybody who knows the URL can send it events/);
  assert.match(row, /Compute webhook-signature over the bytes of the body .* and answer 401/);
  hand.arrive(t, { clicks: 3, seconds: 60 });
  assert.deepEqual(person.complaints, []);
}
