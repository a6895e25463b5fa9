/** The operator upgrades the server while a person types into the open console. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import type { Page } from 'playwright-core';
import type { DemoStage } from '../console-stage.ts';
import { settled, visit } from '../visitor.ts';
import { demoShop } from './shop.ts';

const NEW_BUILD = 'another-build';

const opened = new AsyncDisposableStack();
let stage: DemoStage;
let page: Page;
let complaints: string[];

suite('an upgrade of the server', () => {
  before(async () => {
    const shop = demoShop();
    ({ stage } = shop);
    const person = opened.use(await visit(shop.browser, { url: stage.url, account: stage.accounts.owner }));
    ({ page, complaints } = person);
  });
  after(() => opened.disposeAsync());

  test('loses nothing that somebody types, and the open console offers to reload', async () => {
    await page.goto('/destinations/new');
    await settled(page);
    await page.getByLabel('Name', { exact: true }).fill('Half');
    await page.getByLabel('URL', { exact: true }).fill('https://hooks.exam');
    const before = await typed();
    const restarted = stage.restart({ MILLRACE_CONSOLE_DIR: anotherBuild() });
    await page.getByLabel('Name', { exact: true }).press('End');
    await page.keyboard.type('-typed');
    await restarted;
    await page.getByText('Millrace was upgraded.').waitFor();
    assert.deepEqual(await typed(), { ...before, name: 'Half-typed' });
    assert.equal(await buildOf(), undefined, 'the page did not reload by itself');
  });

  test('is over after the reload, with what was typed', async () => {
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.waitForFunction((build) => document.querySelector('body')?.dataset['build'] === build, NEW_BUILD);
    await settled(page);
    assert.deepEqual(await typed(), { name: 'Half-typed', url: 'https://hooks.exam' });
    assert.equal(await page.getByText('Millrace was upgraded.').count(), 0);
    await page.getByRole('link', { name: 'Sources', exact: true }).click();
    await settled(page);
    assert.deepEqual(
      complaints.filter((complaint) => !/ERR_|Failed to fetch|Failed to load/.test(complaint)),
      [],
    );
  });
});

/** The same console with another page, so it has another name. */
function anotherBuild(): string {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-console-'));
  opened.defer(() => rmSync(dir, { recursive: true }));
  cpSync(join(ROOT_DIR, 'console/dist'), dir, { recursive: true });
  const file = join(dir, 'index.html');
  writeFileSync(file, readFileSync(file, 'utf8').replace('<body', `<body data-build="${NEW_BUILD}"`));
  return dir;
}

async function typed(): Promise<{ name: string; url: string }> {
  const [name, url] = await Promise.all(
    ['Name', 'URL'].map((label) => page.getByLabel(label, { exact: true }).inputValue()),
  );
  return { name: name ?? '', url: url ?? '' };
}

async function buildOf(): Promise<string | undefined> {
  return page.evaluate(() => document.body.dataset['build']);
}
