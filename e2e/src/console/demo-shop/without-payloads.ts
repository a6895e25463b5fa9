/** The console of a viewer without payloads: every screen works, asks for nothing that it may not read, and says what it does not show. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SCREENS } from '../screens.ts';
import { goInside, visit } from '../visitor.ts';
import { demoShop } from './shop.ts';

/** These hold payloads, and say so in words. */
const WORDS = ['source-live', 'events', 'event-journey', 'delivery', 'delivery-delivered'];
/** Of these the API refuses everything to this role, and the screens say so; the navigation does not lead there. */
const REFUSED = new Set(['profiles', 'user-profile', 'privacy', 'deletion']);

suite('the console of a viewer without payloads', () => {
  before(() => makeViewer('viewer-without-payloads'));
  after(() => makeViewer('viewer'));

  test('shows every screen without a refused request, and says where payloads would be', async () => {
    const { stage, browser, ids } = demoShop();
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

function makeViewer(role: string): void {
  const { stage } = demoShop();
  stage.postgres.run(`UPDATE members SET role = '${role}' WHERE user_id =
    (SELECT id FROM users WHERE email = '${stage.accounts.viewer.email}')`);
}
