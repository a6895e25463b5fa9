/** An owner connects a provider and requires it; a person of the provider signs in and out, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { settled, visit } from '../visitor.ts';
import { disconnectProvider, newInstallation, OWNER } from './installation.ts';
import { type OpenidProvider, startOpenidProvider } from './openid-provider.ts';

const SECRET = 'the secret of the client';

let provider: OpenidProvider;

const factOf = async (page: Page, name: string) =>
  ((await page.locator('.fact', { hasText: name }).locator('dd').textContent()) ?? '').trim();

suite('single sign-on', () => {
  before(async () => {
    provider = await startOpenidProvider();
  });
  after(() => provider[Symbol.asyncDispose]());

  test('a workspace is connected, tested and closed to passwords, and its people come in by the provider', async () => {
    const { stage, browser } = newInstallation();
    await using owner = await visit(browser, { url: stage.url, account: OWNER });
    const { page } = owner;
    await page.goto('/team?tab=sign-on');
    const redirectUri = await factOf(page, 'Redirect URI');
    const signInUrl = await factOf(page, 'Sign-in link');
    const signedOutUri = await factOf(page, 'After signing out');
    assert.match(redirectUri, /\/sso\/ws_\w+\/callback$/);
    const client = { id: 'millrace', secret: SECRET, redirectUris: [redirectUri], signedOutUris: [signedOutUri] };
    await provider.tell({ kind: 'clients', clients: [client] });
    const ann = { email: 'ann@fernhill.example', email_verified: true, name: 'Ann Reed' };
    await provider.tell({
      kind: 'people',
      people: { ann: { ...ann, groups: ['staff'] }, bob: { email: 'b@x.example' } },
    });

    await page.getByLabel('Issuer').fill(provider.issuer);
    await page.getByLabel('Client id').fill('millrace');
    await page.getByRole('textbox', { name: 'Client secret' }).fill('wrong');
    await page.getByRole('button', { name: 'Add a group' }).click();
    await page.getByLabel('Group 1', { exact: true }).fill('staff');
    await page.getByLabel('Role of group 1').selectOption('developer');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page.getByText('its id or its secret is wrong').waitFor();
    await page.getByRole('textbox', { name: 'Client secret' }).fill(SECRET);
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Single sign-on is changed.').waitFor();
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page.getByText('The provider knows the client and its secret.').waitFor();

    const required = page.getByRole('switch', { name: /single sign-on alone/ });
    await required.focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByText('needs a break-glass owner').waitFor();
    await page.getByRole('checkbox', { name: /Mara Lindt/ }).check();
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByText('Members need single sign-on from now on.').waitFor();
    assert.deepEqual(owner.complaints, []);

    await using person = await visit(browser, { url: stage.url, width: 390 });
    await signInAs(person.page, signInUrl, 'bob');
    await person.page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await person.page.getByText('email_verified').waitFor();
    assert.ok(!person.page.url().includes('code='), 'the code left the address');

    await using another = await visit(browser, { url: stage.url });
    await signInAs(another.page, signInUrl, 'ann');
    await another.page.getByRole('link', { name: 'Destinations' }).first().waitFor();
    await another.page.goto('/profile');
    await another.page.getByText('Single sign-on started this session.').waitFor();
    await another.page.getByText('Ann Reed', { exact: false }).first().waitFor();
    await settled(another.page);
    // The page of the provider is not ours to judge.
    assert.deepEqual([...another.complaints, ...person.complaints], []);
    await another.page.getByRole('button', { name: 'Sign out' }).click();
    await another.page.waitForURL(`${provider.issuer}/session/end?**`);
    await another.page.getByRole('button', { name: /^Yes/ }).click();
    await another.page.waitForURL(`${stage.url}/sign-in**`);
    await disconnectProvider(owner);
  });
});

async function signInAs(page: Page, link: string, subject: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Continue with single sign-on' }).click();
  await page.getByLabel('Subject').fill(subject);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
