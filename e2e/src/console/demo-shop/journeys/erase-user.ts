/** A person asks to be forgotten: from their id to the receipt. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { asker } from '../../find-ids.ts';
import { visit } from '../../visitor.ts';
import { waitFor } from '../../wait-for.ts';
import { openHand } from './hand.ts';
import { addSource, openReceiver } from './own-shop.ts';
import type { Place } from './place.ts';

const USER = 'cus_forget_me_7001';

export async function eraseUser({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver();
  const source = await addSource(stage, 'Loyalty cards');
  for (const name of ['Points', 'Birthday mail']) await source.addDestination({ name, url: receiver.url });
  const used = (userId: string) => ({ userId, event: 'Card Used' });
  await source.send([used(USER), used(USER), used('cus_7002')]);
  await waitFor('both destinations have the events', () => receiver.received.length === 6);
  const ask = asker(stage, stage.token);
  await untilRecorded(ask, 4);

  await using person = await visit(browser, { url: stage.url, account: stage.accounts.admin });
  const { page } = person;
  await page.goto('/');
  const hand = openHand(page);
  await hand.click(page.getByRole('link', { name: 'Privacy' }));
  await hand.choose(page.getByLabel('Sources'), source.name);
  await hand.type(page.getByLabel('User id'), USER);
  await page.keyboard.press('Enter');
  // Destinations of audiences are told, too, whatever their source is: the shop's audience has one.
  await page.getByText(/sends a delete to .*CRM sync.*Birthday mail/).waitFor();
  await page.getByText('4 records, of which 0 still wait').waitFor();
  await page.getByText('2 events: never sent or shown again').waitFor();

  await hand.click(page.getByRole('button', { name: `Erase ${USER}…` }));
  const dialog = page.getByRole('dialog');
  const erase = dialog.getByRole('button', { name: `Erase ${USER}`, exact: true });
  assert.ok(await erase.isDisabled(), 'the id is not typed yet');
  await hand.type(dialog.getByLabel(`Type ${USER} to confirm`), USER);
  await hand.click(erase);
  const told = 2 + (await ofAudiences(ask)).size;
  await page.getByText(`All ${told} destinations have the notification.`).first().waitFor();
  await page.getByRole('heading', { level: 1 }).getByText('Done.').waitFor();
  const stores = page.getByRole('table', { name: 'Stores' });
  assert.match(await stores.getByRole('row').filter({ hasText: 'Delivery records' }).innerText(), /4\s+Erased/);
  const receipt = await downloadReceipt(page, hand);
  hand.arrive(t, { clicks: 8, seconds: 120 });

  assert.match(receipt, /"outcome": "delivered"/);
  assert.ok(!receipt.includes(USER), 'the receipt does not name the user');
  const heard = receiver.received.slice(6).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  assert.deepEqual(heard, ['delete', 'delete']);

  await findTombstone(page, source.id);
  assert.deepEqual(person.complaints, []);
}

/** A search finds nothing of the user; only the hash tells that there was one. */
async function findTombstone(page: Page, sourceId: string): Promise<void> {
  await page.goto(`/events?sourceId=${sourceId}&userId=${USER}`);
  await page.getByRole('heading', { name: 'No stored event matches', exact: true }).waitFor();
  await page.goto(`/deliveries?userId=${USER}`);
  await page.getByText(/Millrace found no delivery of the/).waitFor();
  await page.goto(`/privacy?userId=${USER}`);
  await page.getByText('This user was erased before.').waitFor();
  await page.getByText('Millrace finds nothing with this user id.').waitFor();
}

async function downloadReceipt(page: Page, hand: ReturnType<typeof openHand>): Promise<string> {
  const downloaded = page.waitForEvent('download');
  await hand.click(page.getByRole('button', { name: 'Download receipt' }));
  return readFile(await (await downloaded).path(), 'utf8');
}

type Ask = ReturnType<typeof asker>;

/** The page counts once, and the record may be behind the receiver. */
async function untilRecorded(ask: Ask, deliveries: number): Promise<void> {
  await waitFor('the record has the deliveries', async () => {
    const found = await ask<{ items: object[] }>(`/deliveries?userId=${USER}&state=delivered`);
    return found.items.length === deliveries;
  });
}

async function ofAudiences(ask: Ask): Promise<Set<string>> {
  const { items } = await ask<{ items: { destinations: string[] }[] }>('/definitions');
  return new Set(items.flatMap(({ destinations }) => destinations));
}
