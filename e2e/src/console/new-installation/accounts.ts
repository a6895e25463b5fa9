/** The rarer ways of owners and members: the audit stream, operators, the end of a workspace, and linking an account with a provider. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { text } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { serve } from '../../serve.ts';
import type { Stage } from '../console-stage.ts';
import { inspectPage } from '../inspect-page.ts';
import { settled, type Visit, visit } from '../visitor.ts';
import { waitFor } from '../wait-for.ts';
import { disconnectProvider, newInstallation, OWNER, WORKSPACE } from './installation.ts';
import { type OpenidProvider, startOpenidProvider } from './openid-provider.ts';

const TOM = { name: 'Tom Hale', email: 'tom@fernhill.example', password: 'another long password' };
const IRA = { name: 'Ira Voss', email: 'ira@fernhill.example', password: 'a third long password' };

const accountOf = ({ email, password }: typeof TOM) => ({ email, password });

let stage: Stage;
let browser: Browser;
let owner: Visit;

/** Invited by the owner. */
async function addMember({ name, email, password }: typeof TOM): Promise<void> {
  const { token } = await asOwner<{ token: string }>('/invitations', { email, role: 'viewer' });
  const answer = await fetch(`${stage.url}/api/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, name, password }),
  });
  assert.equal(answer.status, 201, await answer.text());
}

async function asOwner<T>(path: string, data: object, method = 'POST'): Promise<T> {
  const headers = { 'Millrace-Csrf': '1', Origin: stage.url };
  const answer = await owner.page.request.fetch(`/api/v1${path}`, { method, data, headers });
  assert.ok(answer.ok(), await answer.text());
  return (await answer.json()) as T;
}

/** As a person sees it on a desk and on a phone. */
async function look(page: Page): Promise<void> {
  const size = page.viewportSize() ?? assert.fail('the page has a size');
  for (const width of [size.width, 390]) {
    await page.setViewportSize({ ...size, width });
    assert.deepEqual(await inspectPage(page), [], `${width} px wide`);
  }
  await page.setViewportSize(size);
}

suite('accounts', () => {
  before(async () => {
    ({ stage, browser } = newInstallation());
    owner = await visit(browser, { url: stage.url, account: OWNER });
    for (const member of [TOM, IRA]) await addMember(member);
  });
  after(() => owner[Symbol.asyncDispose]());

  test('the audit log goes to a URL, says where it stands, and is exported as a file', async () => {
    const taken: string[] = [];
    let refused = 0;
    let status = 500;
    await using receiver = await serve(async (incoming, outgoing) => {
      const body = await text(incoming);
      if (status === 204) taken.push(body);
      else refused += 1;
      outgoing.writeHead(status).end();
    });
    const { page } = owner;
    await page.goto('/team?tab=audit');
    await page.getByRole('button', { name: 'Send entries to a URL…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('http://192.168.0.1/audit');
    await dialog.getByRole('button', { name: 'Send from now on' }).click();
    await dialog.getByText('which is not public').waitFor();
    await dialog.getByLabel('URL').fill(`${receiver.url}/audit`);
    await dialog.getByRole('button', { name: 'Send from now on' }).click();
    assert.match(await dialog.getByLabel('Secret for webhook-signature').inputValue(), /^whsec_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await waitFor('the receiver was asked', () => refused > 0);
    await page.reload();
    await page.getByText('failed in a row: answered 500.').waitFor();
    status = 204;
    await waitFor('an entry came through', () => taken.some((body) => body.includes('audit_stream.')));
    await page.reload();
    await page.getByText('0 entries wait').waitFor();
    await look(page);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export (NDJSON)' }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'audit.ndjson');
    const lines = (await readFile(await file.path(), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    assert.ok(lines.length > 5 && JSON.stringify(lines).includes('audit_stream.'));
    await page.getByRole('button', { name: 'Stop sending' }).click();
    await page.getByText('The entries are sent to no URL.').waitFor();
  });

  test('a member becomes an operator, and is none again', async () => {
    const { page } = owner;
    await page.goto('/system?tab=operators');
    await page.getByRole('row').filter({ hasText: OWNER.email }).waitFor();
    await look(page);
    await page.getByLabel('A member of this workspace').selectOption({ label: `${TOM.name} (${TOM.email})` });
    await page.getByRole('button', { name: 'Make an operator' }).click();
    const row = page.getByRole('row').filter({ hasText: TOM.email });
    await row.getByRole('button', { name: 'Remove' }).waitFor();
    await look(page);
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'hidden' });
    await page.getByRole('row').filter({ hasText: OWNER.email }).waitFor();
  });

  test('members link their accounts: one in the profile, one at the door of a workspace that requires it', async () => {
    await using provider = await startOpenidProvider();
    await connect(provider);
    await using tom = await visit(browser, { url: stage.url, account: accountOf(TOM) });
    await tom.page.goto('/profile');
    await passwordField(tom.page).fill('not the password');
    await tom.page.getByRole('button', { name: 'Link and sign in' }).click();
    await tom.page.getByText('This is not your current password.').waitFor();
    await look(tom.page);
    await link(tom.page, TOM.password, 'tom');
    await tom.page.goto('/profile');
    await tom.page.getByText('Your account is linked with the provider of').waitFor();

    const { user } = (await (await owner.page.request.get('/api/v1/me')).json()) as { user: { id: string } };
    await asOwner('/single-sign-on', { required: true, breakGlassOwners: [user.id] }, 'PATCH');
    await using ira = await visit(browser, { url: stage.url, account: accountOf(IRA) });
    await ira.page.goto('/sources');
    await ira.page.getByRole('heading', { name: 'This workspace asks for single sign-on' }).waitFor();
    await look(ira.page);
    await link(ira.page, IRA.password, 'ira');

    await using again = await visit(browser, { url: stage.url, account: accountOf(TOM) });
    await again.page.goto('/');
    await again.page.getByRole('heading', { name: 'This workspace asks for single sign-on' }).waitFor();
    await again.page.getByRole('button', { name: 'Continue with single sign-on' }).click();
    await signInAt(again.page, 'tom');
    assert.deepEqual(
      [tom, ira, again].flatMap(({ complaints }) => complaints),
      [],
    );
    await disconnectProvider(owner);
  });

  test('a workspace is deleted by its name and a password, and the deletion is undone', async () => {
    const { page } = owner;
    await page.goto('/team');
    await page.getByRole('button', { name: 'Delete workspace…' }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.getByRole('button', { name: 'Delete the workspace' });
    await dialog.getByLabel(`Type ${WORKSPACE} to confirm`).fill(WORKSPACE);
    await dialog.getByRole('textbox', { name: 'Your password' }).fill('not the password');
    await remove.click();
    await dialog.getByText('This is not your current password.').waitFor();
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(OWNER.password);
    await remove.click();
    await dialog.getByText('create another one first').waitFor();
    await asOwner('/workspaces', { name: 'Fernhill Outlet' });
    await remove.click();
    await page.getByText(/It is removed in/).waitFor();
    await look(page);
    await page.goto('/system?tab=workspaces');
    await page.getByText(/It is removed in/).waitFor();
    await look(page);
    await page.goto('/');
    const told = page.getByText('This workspace is removed on');
    await told.waitFor();
    await look(page);
    await page.goto('/team');
    await page.getByRole('button', { name: 'Undo the deletion' }).click();
    await page.getByRole('button', { name: 'Delete workspace…' }).waitFor();
    await told.waitFor({ state: 'detached' });
  });

  test('nothing of it broke the rules of the page', () => {
    assert.deepEqual(owner.complaints, []);
    assert.deepEqual(owner.foreign, []);
  });
});

async function connect(provider: OpenidProvider): Promise<void> {
  const read = await owner.page.request.get('/api/v1/single-sign-on');
  const { addresses } = (await read.json()) as { addresses: { redirectUri: string } };
  const client = {
    id: 'millrace',
    secret: 'the secret of the client',
    redirectUris: [addresses.redirectUri],
    signedOutUris: [],
  };
  await provider.tell({ kind: 'clients', clients: [client] });
  const people = [TOM, IRA].map(({ name, email }) => [email.split('@')[0], { name, email, email_verified: true }]);
  await provider.tell({ kind: 'people', people: Object.fromEntries(people) as object });
  await asOwner('/single-sign-on', { issuer: provider.issuer, clientId: client.id, clientSecret: client.secret });
}

/** The profile asks for it in other cards, too. */
function passwordField(page: Page) {
  const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Link and sign in' }) });
  return form.getByRole('textbox', { name: 'Your password' });
}

async function link(page: Page, password: string, subject: string): Promise<void> {
  await passwordField(page).fill(password);
  await page.getByRole('button', { name: 'Link and sign in' }).click();
  await signInAt(page, subject);
}

async function signInAt(page: Page, subject: string): Promise<void> {
  await page.getByLabel('Subject').fill(subject);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Destinations' }).first().waitFor();
  await settled(page);
}
