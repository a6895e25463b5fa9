/** From an idea of an audience to one user who enters it, and why. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { visit } from '../../visitor.ts';
import { waitFor } from '../../wait-for.ts';
import { type Hand, openHand } from './hand.ts';
import { addSource, openReceiver } from './own-shop.ts';
import type { Place } from './place.ts';

type Identify = { userId: string; traits: Record<string, unknown> };

export async function watchAudience({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver();
  const source = await addSource(stage, 'Loyalty card');
  const elsewhere = await addSource(stage, 'Loyalty club');
  await elsewhere.addDestination({ name: 'Loyalty club', url: receiver.url });
  const stamped = (userId: string) => ({ userId, event: 'Card Stamped' });
  const stamps = { loyal_1: 3, loyal_2: 3, loyal_3: 2 };
  await source.send(
    Object.entries(stamps).flatMap(([userId, times]) => Array.from({ length: times }, () => stamped(userId))),
  );

  await using person = await visit(browser, { url: stage.url, account: stage.accounts.developer });
  const { page } = person;
  await page.goto('/audiences');
  const hand = openHand(page);
  await describe(page, hand);
  assert.equal(receiver.received.length, 0, 'a preview sends nothing');
  await hand.click(page.getByLabel('Loyalty club'));
  await hand.click(page.getByRole('button', { name: 'Create audience' }));

  await page.getByRole('heading', { name: 'Live. 2 users are in Regulars, 30 days now.' }).waitFor();
  await waitFor('the first sync has told both', () => receiver.received.length === 2);
  assert.deepEqual(told(receiver.received), ['loyal_1 true', 'loyal_2 true']);
  await page.getByText('nothing waits').waitFor();

  await source.send([stamped('loyal_3')]);
  await findReason(page, hand);
  hand.arrive(t, { clicks: 8, seconds: 60 });
  assert.deepEqual(told(receiver.received), ['loyal_1 true', 'loyal_2 true', 'loyal_3 true'], 'changes only');
  assert.deepEqual(person.complaints, []);
}

/** Three stamps within 30 days: the page shows the key, the size, some users and the sentence. */
async function describe(page: Page, hand: Hand): Promise<void> {
  await hand.click(page.getByRole('main').getByRole('link', { name: 'New audience' }));
  await hand.type(page.getByLabel('Name', { exact: true }), 'Regulars, 30 days');
  await page.getByText('regulars_30_days').waitFor();
  await hand.type(page.getByLabel('Name of the event'), 'Card Stamped');
  await hand.type(page.getByLabel('Number', { exact: true }), '3');
  await page.getByRole('heading', { name: '2 users would be in Regulars, 30 days.' }).waitFor();
  const samples = page.getByRole('table', { name: 'Some of the users' });
  for (const user of ['loyal_1', 'loyal_2']) await samples.getByText(user).waitFor();
  await page.getByText('A user is in while they did Card Stamped at least 3 times in the last 30 days.').waitFor();
}

/** From the change to the profile, its reason and its end, to the delivery that told of it. */
async function findReason(page: Page, hand: Hand): Promise<void> {
  const entry = page.getByRole('row', { name: /loyal_3 entered .* an event/ });
  await hand.click(entry.getByRole('link', { name: 'loyal_3' }));
  await page.getByRole('heading', { name: /^In\. loyal_3 is in Regulars, 30 days since / }).waitFor();
  const reason = page.getByRole('row', { name: /they did Card Stamped at least 3 times/ });
  await reason.filter({ hasText: /3needs at least 3yes/ }).waitFor();
  await page.getByText(/^It ends by itself on /).waitFor();
  const sent = page.getByRole('row', { name: /^entered .* an event/ });
  await hand.click(sent.getByRole('link', { name: 'Loyalty club' }));
  await page.getByRole('main').getByText('regulars_30_days').first().waitFor();
}

function told(received: readonly { body: string }[]): string[] {
  const identifies = received.map(({ body }) => JSON.parse(body) as Identify);
  return identifies.map(({ userId, traits }) => `${userId} ${String(traits['regulars_30_days'])}`).toSorted();
}
