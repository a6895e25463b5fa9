/** The console of a viewer without payloads: every screen works, asks for nothing that it may not read, and says what it does not show. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type DemoStage, openDemoStage } from './console-stage.ts';
import { asker, findIds } from './find-ids.ts';
import { type Ids, SCREENS } from './screens.ts';
import { goInside, launchBrowser, visit } from './visitor.ts';

const opened = new AsyncDisposableStack();
let stage: DemoStage;
let browser: Browser;
let ids: Ids;

before(async () => {
  stage = opened.use(await openDemoStage());
  browser = await launchBrowser({ isLight: true });
  opened.defer(() => browser.close());
  ids = await findIds(asker(stage, stage.token));
  stage.postgres.run(`UPDATE members SET role = 'viewer-without-payloads' WHERE user_id =
    (SELECT id FROM users WHERE email = '${stage.accounts.viewer.email}')`);
});
after(() => opened.disposeAsync());

/** These hold payloads, and say so in words. */
const WORDS = ['source-live', 'events', 'event-journey', 'delivery', 'delivery-delivered'];
/** Of these the API refuses everything to this role, and the screens say so; the navigation does not lead there. */
const REFUSED = new Set(['profiles', 'user-profile', 'privacy', 'deletion']);

suite('the console of a viewer without payloads', () => {
  test('shows every screen without a refused request, and says where payloads would be', async () => {
    await using person = await visit(browser, { url: stage.url, account: stage.accounts.viewer });
    const mistakes: string[] = [];
    for (const { name, path, isPublic } of SCREENS) {
      if (isPublic === true || REFUSED.has(name) || name.startsWith('system')) continue;
      person.answers.length = 0;
      await goInside(person.page, path(ids));
      const refused = person.answers.filter(({ status }) => status === 403).map((each) => each.path);
      if (refused.length > 0) mistakes.push(`${name}: ${refused.join(', ')}`);
      const text = await person.page.locator('main').innerText();
      if (WORDS.includes(name) && !/sees no payloads/.test(text)) mistakes.push(`${name} does not say it: ${text}`);
      for (const { body } of person.answers) {
        if ((await body()).includes(ids.user)) mistakes.push(`${name} got the id of a user`);
      }
    }
    assert.deepEqual(mistakes, []);
  });
});
