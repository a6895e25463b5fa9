/** A member has lost the password of an installation without mail: an owner makes a link, the member chooses a new one. */
import assert from 'node:assert/strict';
import { visit } from '../../visitor.ts';
import { openHand } from './hand.ts';
import type { Place } from './place.ts';

const NEW_PASSWORD = 'a password nobody else knows';

export async function recoverAccount({ t, stage, browser }: Place): Promise<void> {
  const { owner, viewer } = stage.accounts;
  await using lost = await visit(browser, { url: stage.url });
  await lost.page.goto('/sign-in');
  const hand = openHand(lost.page);
  await hand.click(lost.page.getByRole('link', { name: 'Forgot your password?' }));
  await hand.type(lost.page.getByLabel('Email address'), viewer.email);
  await lost.page.keyboard.press('Enter');
  await lost.page.getByRole('heading', { name: 'This installation sends no mail' }).waitFor();

  await using helping = await visit(browser, { url: stage.url, account: owner });
  await helping.page.goto('/team');
  const row = helping.page.getByRole('row').filter({ hasText: viewer.email });
  await row.getByRole('button', { name: 'New password' }).click();
  const dialog = helping.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  const link = await dialog.getByLabel('Link').inputValue();
  assert.match(link, /\/reset#token=mll_/);

  await lost.page.goto(link);
  await hand.type(lost.page.getByLabel('New password'), NEW_PASSWORD);
  await lost.page.keyboard.press('Enter');
  await lost.page.getByRole('heading', { name: 'Your password is changed' }).waitFor();
  await hand.click(lost.page.getByRole('link', { name: 'Sign in' }));
  await hand.type(lost.page.getByLabel('Email address'), viewer.email);
  await hand.type(lost.page.getByRole('textbox', { name: 'Password' }), NEW_PASSWORD);
  await lost.page.keyboard.press('Enter');
  await lost.page.getByRole('link', { name: 'Destinations' }).first().waitFor();
  hand.arrive(t, { clicks: 6, seconds: 120 });
  assert.deepEqual([...lost.complaints, ...helping.complaints], []);
}
