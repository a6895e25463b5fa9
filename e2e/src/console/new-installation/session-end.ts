/** A session ends while the console is open, as by time or by an owner. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { settled, visit } from '../visitor.ts';
import { newInstallation, OWNER } from './installation.ts';

suite('a session that ends', () => {
  test('leads an open page to the sign-in, and from there back to where the person was going', async () => {
    const { stage, browser } = newInstallation();
    await using person = await visit(browser, { url: stage.url, account: OWNER });
    const { page } = person;
    await page.goto('/sources');
    await settled(page);
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Destinations' }).first().click();
    await page.getByLabel('Email address').fill(OWNER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.url}/destinations`);
    await settled(page);
    assert.deepEqual(person.complaints, []);
  });
});
