/** From home to the reason of a failure, also for a viewer. */
import assert from 'node:assert/strict';
import { visit } from '../../visitor.ts';
import { openHand } from './hand.ts';
import type { Place } from './place.ts';

export async function findReason({ t, stage, browser }: Place): Promise<void> {
  await using person = await visit(browser, { url: stage.url, account: stage.accounts.viewer });
  const { page } = person;
  await page.goto('/');
  const trouble = page.getByRole('listitem').filter({ hasText: 'Orders to ERP' });
  await trouble.getByRole('link', { name: 'See why' }).waitFor();
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /Orders to ERP is failing/);

  const hand = openHand(page);
  await hand.click(trouble.getByRole('link', { name: 'See why' }));
  const causes = page.getByRole('row').filter({ hasText: 'tls_self_signed' });
  await hand.click(causes.getByRole('link', { name: 'Self-signed certificate' }));
  const lead = page.getByRole('heading', { level: 1 });
  await lead.getByText(/certificate of 127\.0\.0\.1 is self-signed, so nothing was sent/).waitFor();
  assert.match(await lead.innerText(), /install one from a public authority/);
  // The latest one: a delivery of a shop that is a minute old has had its second.
  await page
    .getByText(/^Attempt \d+$/)
    .first()
    .waitFor();
  hand.arrive(t, { clicks: 3, seconds: 60 });
  assert.deepEqual(person.complaints, []);
}
