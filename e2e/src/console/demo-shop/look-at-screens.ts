/** Every screen with the data of the demo shop, in light and dark, wide and as a phone has it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inspectPage } from '../inspect-page.ts';
import { type Ids, SCREENS } from '../screens.ts';
import { goInside, settled, type Visit, visit } from '../visitor.ts';
import { lasting, waitFor } from '../wait-for.ts';
import { seriousIssues } from './serious-issues.ts';
import { demoShop } from './shop.ts';

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1_440, height: 900 };
/**
 * Together they show every part that has colours; `npm run screenshots` makes the pictures of all screens in dark. These are also the ones
 * that are opened by their addresses.
 */
const LOOKED_AT_IN_DARK = new Set([
  'sign-in',
  'home',
  'source-live',
  'source-schema',
  'event-journey',
  'destinations',
  'new-destination',
  'destination',
  'destination-try',
  'delivery',
  'dead-letters',
  'new-audience',
  'audience',
  'user-profile',
  'team',
  'system',
]);

const opened = new AsyncDisposableStack();
let ids: Ids;
let person: Visit;
let stranger: Visit;

suite('a screen', () => {
  before(async () => {
    const { stage, browser } = demoShop();
    ({ ids } = demoShop());
    person = opened.use(await visit(browser, { url: stage.url, account: stage.accounts.owner }));
    stranger = opened.use(await visit(browser, { url: stage.url }));
  });

  for (const { name, path, isPublic = false } of SCREENS) {
    test(`${name} harms nobody, hides nothing and fits`, async () => {
      const { page, complaints, foreign } = isPublic ? stranger : person;
      complaints.length = 0;
      await page.setViewportSize(DESK);
      await page.emulateMedia({ colorScheme: 'light' });
      // A page that loads costs more processor time than all that is looked at: the rest is reached from the screen before.
      if (isPublic || LOOKED_AT_IN_DARK.has(name)) await open(page, path(ids));
      else await goInside(page, path(ids));
      if (name === 'source-live') await page.locator('main tbody tr').first().waitFor();
      assert.deepEqual(await inspectPage(page), [], 'wide');
      assert.deepEqual(await lasting(() => seriousIssues(page)), [], 'light');
      if (LOOKED_AT_IN_DARK.has(name)) {
        await page.emulateMedia({ colorScheme: 'dark' });
        assert.deepEqual(await lasting(() => seriousIssues(page, ['color-contrast'])), [], 'dark');
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(PHONE);
      assert.deepEqual(await inspectPage(page), [], 'as a phone has it');
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    });
  }
});

suite('what the CSP forbids', () => {
  after(() => opened.disposeAsync());

  test('is stopped, and these tests would notice', async () => {
    const { page, complaints, foreign } = person;
    complaints.length = 0;
    await open(page, '/');
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.append('window.cspLetItRun = true');
      const picture = new Image();
      picture.src = 'https://elsewhere.example/pixel.gif';
      document.body.append(script, picture);
    });
    for (const directive of ['require-trusted-types-for', 'img-src']) {
      await waitFor(`a complaint about ${directive}`, () =>
        complaints.some((complaint) => complaint.startsWith(`CSP stopped ${directive}`)),
      );
    }
    assert.equal(await page.evaluate(() => 'cspLetItRun' in window), false);
    assert.deepEqual(foreign.splice(0), ['https://elsewhere.example/pixel.gif']);
  });
});

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}
