/** A person adds second factors and signs in with each of them, in Chromium with its virtual authenticator. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Stage } from '../console-stage.ts';
import { inspectPage } from '../inspect-page.ts';
import { settled, type Visit, visit } from '../visitor.ts';
import { newInstallation, OWNER } from './installation.ts';

const MEMBER = { email: 'noa@fernhill.example', password: 'another long password' };

let stage: Stage;
let browser: Browser;
let person: Visit;
let recoveryCodes: string[] = [];

/** As a phone or a laptop has it: keeps passkeys, and verifies the person without a question. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function forgetSession({ page }: Visit): Promise<void> {
  await page.context().clearCookies();
  await page.goto('/sign-in');
}

async function givePassword({ page }: Visit): Promise<void> {
  await page.getByLabel('Email address').fill(OWNER.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  const { status } = await page.request.get('/api/v1/me').then((answer) => ({ status: answer.status() }));
  assert.equal(status, 401, 'there is no session between the steps');
}

async function mustBeIn({ page }: Visit): Promise<void> {
  await page.getByRole('link', { name: 'Destinations' }).first().waitFor();
}

/** RFC 6238 once more, as the person's phone has it. */
function codeAt(secret: string, step: number): string {
  const letters = secret.split('').map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const bits = letters.map((value) => value.toString(2).padStart(5, '0')).join('');
  const seed = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', seed).update(counter).digest();
  const value = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff;
  return String(value % 1_000_000).padStart(6, '0');
}

suite('a second factor', () => {
  before(async () => {
    ({ stage, browser } = newInstallation());
    person = await visit(browser, { url: stage.url, account: OWNER });
    await addAuthenticator(person.page);
  });
  after(() => person[Symbol.asyncDispose]());

  test('a passkey is added after the password, with ten recovery codes', async () => {
    const { page } = person;
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByLabel('Name').fill('Laptop of Mara');
    await dialog.getByRole('button', { name: 'Make the passkey' }).click();
    const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await codes.first().waitFor();
    recoveryCodes = await codes.allTextContents();
    assert.equal(new Set(recoveryCodes).size, 10);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), recoveryCodes.join('\n'));
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    assert.equal((await download).suggestedFilename(), 'millrace-recovery-codes.txt');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: 'Laptop of Mara' }).waitFor();
  });

  test('the passkey is the second factor after the password', async () => {
    await forgetSession(person);
    await givePassword(person);
    await person.page.getByRole('button', { name: 'Use a passkey' }).click();
    await mustBeIn(person);
  });

  test('the passkey signs in alone, without an address and a password', async () => {
    await forgetSession(person);
    await person.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await mustBeIn(person);
    await person.page.goto('/profile');
    await person.page.getByText(OWNER.email).first().waitFor();
  });

  test('an authenticator app is added by its QR code or key, and its next code signs in', async () => {
    const { page } = person;
    await page.getByRole('button', { name: 'Add an authenticator app' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password);
    await dialog.getByText('Passkey', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
    const secret = (await dialog.locator('code').textContent()) ?? '';
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const step = Math.floor(Date.now() / 30_000);
    await dialog.getByLabel('Code of the app').fill(codeAt(secret, step));
    await dialog.getByRole('button', { name: 'Add the app' }).click();
    await page.getByRole('row').filter({ hasText: 'Authenticator app' }).waitFor();
    await dialog.waitFor({ state: 'hidden' });

    await forgetSession(person);
    await givePassword(person);
    const field = page.getByLabel('Code of your authenticator app');
    await field.fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The code is wrong.').waitFor();
    // The code of the step that added the app is used; the one after it counts already.
    await field.fill(codeAt(secret, Math.max(step + 1, Math.floor(Date.now() / 30_000))));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await mustBeIn(person);
  });

  test('a recovery code signs in, and the console says how many are left', async () => {
    const { page } = person;
    await forgetSession(person);
    await givePassword(person);
    await page.getByText('Recovery code', { exact: true }).click();
    await page
      .getByLabel('Recovery code')
      .last()
      .fill(recoveryCodes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('You have 9 recovery codes left.').waitFor();
    await mustBeIn(person);
  });

  test('a workspace that demands a second factor sends a member without one to the profile', async () => {
    const { page } = person;
    // The suite before has made another workspace of this owner.
    const { workspaces } = (await (await page.request.get('/api/v1/me')).json()) as { workspaces: { id: string }[] };
    const write = { 'Millrace-Csrf': '1', Origin: stage.url, 'Millrace-Workspace': workspaces[0]?.id ?? '' };
    const invitation = { data: { email: MEMBER.email, role: 'viewer' }, headers: write };
    const answer = await page.request.post('/api/v1/invitations', invitation);
    assert.equal(answer.status(), 201, await answer.text());
    const invited = (await answer.json()) as { token: string };
    const accepting = { token: invited.token, name: 'Noa', password: MEMBER.password };
    const accepted = await fetch(`${stage.url}/api/v1/invitations/accept`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(accepting),
    });
    assert.equal(accepted.status, 201, await accepted.text());

    await page.goto('/team');
    await page.getByRole('row').filter({ hasText: MEMBER.email }).getByText('none').waitFor();
    await page.getByRole('button', { name: 'Demand a second factor' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Demand a second factor' }).click();
    await page.getByText('Members need a second factor to see this workspace.').waitFor();

    await using member = await visit(browser, { url: stage.url, account: MEMBER, width: 390 });
    await addAuthenticator(member.page);
    await member.page.goto('/sources');
    await member.page.getByText('This workspace demands a second factor of its members.').waitFor();
    assert.match(member.page.url(), /\/profile$/);
    await settled(member.page);
    assert.deepEqual(await inspectPage(member.page), []);
    await member.page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = member.page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(MEMBER.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('button', { name: 'Make the passkey' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await member.page.goto('/sources');
    await member.page
      .getByRole('heading', { name: 'Sources' })
      .or(member.page.getByText('Add a source'))
      .first()
      .waitFor();
    assert.match(member.page.url(), /\/sources$/);
    assert.deepEqual(member.complaints, []);
  });

  test('nothing of it broke the rules of the page', () => {
    assert.deepEqual(person.complaints, []);
    assert.deepEqual(person.foreign, []);
  });
});
