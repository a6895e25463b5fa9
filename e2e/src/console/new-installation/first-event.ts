/** From the link in the log of a new installation to the first event on the screen. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { runClient } from '../../run-client.ts';
import { openHand } from '../demo-shop/journeys/hand.ts';
import { visit } from '../visitor.ts';
import { newInstallation, OWNER, OWNER_NAME, WORKSPACE } from './installation.ts';

suite('a journey to the first event', () => {
  test('the first event is on the screen after at most 8 clicks, and nothing was configured', async (t) => {
    const { stage, browser } = newInstallation();
    await using person = await visit(browser, { url: stage.url });
    const { page } = person;
    const hand = openHand(page);
    await page.goto(stage.setupPath);
    await hand.type(page.getByLabel('Workspace'), WORKSPACE);
    await hand.type(page.getByLabel('Your name'), OWNER_NAME);
    await hand.type(page.getByLabel('Email address'), OWNER.email);
    await hand.type(page.getByRole('textbox', { name: 'Password' }), OWNER.password);
    await hand.click(page.getByRole('button', { name: 'Create workspace' }));

    await hand.click(page.getByRole('link', { name: 'Add a source' }));
    await hand.type(page.getByRole('textbox', { name: 'Name' }), 'Web shop');
    await hand.click(page.getByRole('button', { name: 'Create source' }));

    await page.getByText('Waiting for your first call…').waitFor();
    await hand.click(page.getByRole('link', { name: 'curl', exact: true }));
    await hand.click(page.getByRole('button', { name: 'Copy the curl code' }));
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await page.getByLabel('the curl code', { exact: true }).textContent());
    await runClient('bash', ['-c', copied]);

    await page.getByText('The first call is here.').waitFor();
    await page.getByText('Arrived').waitFor();
    const shown = (await page.getByLabel('the call', { exact: true }).textContent()) ?? '';
    assert.match(shown, /"event": "Order Completed"/);
    assert.match(shown, /"userId": "user-1"/);
    hand.arrive(t, { clicks: 8, seconds: 300 });
    assert.deepEqual(person.complaints, []);
    assert.deepEqual(person.foreign, []);
  });
});
