/** A new destination, without a mouse. */
import assert from 'node:assert/strict';
import { visit } from '../../visitor.ts';
import { openHand } from './hand.ts';
import { openKeyboard } from './keyboard.ts';
import { addSource, openReceiver, untilInUse } from './own-shop.ts';
import type { Place } from './place.ts';

export async function addDestination({ t, stage, browser }: Place): Promise<void> {
  await using receiver = await openReceiver();
  const source = await addSource(stage, 'Kiosk');
  await source.send([{ userId: 'cus_1', event: 'Kiosk Opened' }]);
  await using person = await visit(browser, { url: stage.url, account: stage.accounts.developer });
  const { page } = person;
  await page.goto('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const hand = openHand(page);
  const keyboard = openKeyboard(page);
  await keyboard.press('g');
  await keyboard.press('d');
  await keyboard.use(page.getByRole('link', { name: 'New destination' }));

  await keyboard.type(page.getByLabel('Events of'), source.name);
  await keyboard.type(page.getByRole('textbox', { name: 'Name' }), 'Kiosk screen');
  const url = page.getByRole('textbox', { name: 'URL' });
  await keyboard.type(url, 'http://10.0.0.5/hook');
  await page.getByText('Millrace will not send to 10.0.0.5: it is a private or reserved address.').waitFor();
  await page.getByText('Its URL is refused: correct it to go on.').first().waitFor();
  assert.ok(await page.getByRole('button', { name: 'Create, disabled' }).isDisabled());
  await keyboard.type(url, receiver.url);
  await page.getByText('Connects').waitFor();
  await keyboard.use(page.getByRole('button', { name: 'Create, disabled' }));

  await keyboard.use(page.getByRole('button', { name: 'Send a test' }));
  await page.getByText(/The receiver answered 200 after/).waitFor();
  assert.equal(receiver.tests.length, 1);
  await keyboard.use(page.getByRole('button', { name: 'Enable', exact: true }));
  await page.getByText('Enabled', { exact: true }).waitFor();
  await untilInUse(stage, new URL(page.url()).searchParams.get('id') ?? '');
  await source.send([{ userId: 'cus_1', event: 'Ticket Printed' }]);
  await page.getByRole('heading', { level: 1 }).getByText('Healthy.').waitFor();
  t.diagnostic(`${keyboard.keys()} keys`);
  hand.arrive(t, { clicks: 0, seconds: 120 });
  assert.deepEqual(person.complaints, []);
}
