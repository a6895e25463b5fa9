/** Names, events and answers of others are only ever text: nothing of them runs, hides or breaks a screen. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { asker } from '../find-ids.ts';
import { inspectPage } from '../inspect-page.ts';
import { type Ids, SCREENS } from '../screens.ts';
import { goInside, type Visit, visit } from '../visitor.ts';
import { HOSTILE_OWNER, openHostileReceiver, RAN, sendHostileData, SHOWN_OVERRIDE } from './hostile-data.ts';
import { demoShop } from './shop.ts';

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1_440, height: 900 };
/** These show nothing that came from outside. */
const OWN_WORDS = new Set(['catalog', 'new-source', 'profiles', 'system']);

const opened = new AsyncDisposableStack();
let ids: Ids;
let person: Visit;
const dialogs: string[] = [];

suite('with hostile data, the screen', () => {
  before(async () => {
    const { stage, browser } = demoShop();
    const receiver = opened.use(await openHostileReceiver());
    ids = await sendHostileData(stage, asker(stage, stage.token), receiver.url);
    person = opened.use(await visit(browser, { url: stage.url, account: HOSTILE_OWNER }));
    person.page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  after(() => opened.disposeAsync());

  for (const { name, path } of SCREENS.filter(({ isPublic }) => isPublic !== true)) {
    test(`${name} runs none of it, shows the invisible and keeps its layout`, async () => {
      const { page, complaints, foreign } = person;
      complaints.length = 0;
      await page.setViewportSize(DESK);
      await goInside(page, path(ids));
      await harmless(page, 'wide');
      if (!OWN_WORDS.has(name)) await page.locator('main', { hasText: SHOWN_OVERRIDE }).first().waitFor();
      await page.setViewportSize(PHONE);
      await harmless(page, 'as a phone has it');
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    });
  }
});

async function harmless(page: Page, look: string): Promise<void> {
  assert.deepEqual(await inspectPage(page), [], look);
  assert.deepEqual(await page.evaluate(findHarm, RAN), [], look);
  assert.deepEqual(dialogs, []);
}

/** Runs in the page. Fields of forms keep what they edit, so their values do not count. */
function findHarm(ran: string): string[] {
  const harm: string[] = [];
  if (ran in window) harm.push('a text ran');
  if (document.querySelector('img[src="x"], #root script, a[href^="javascript:"]') !== null)
    harm.push('a text became an element');
  // oxlint-disable-next-line no-control-regex -- these are the characters to find
  const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
  const check = (text: string | null, where: string) => {
    if (INVISIBLE.test(text ?? ''))
      harm.push(`an invisible character in ${where}: ${JSON.stringify(text?.slice(0, 80))}`);
  };
  check(document.title, 'the title of the window');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if ((node.parentElement?.closest('textarea, script, style') ?? null) !== null) continue;
    if (node instanceof Element) {
      for (const name of ['title', 'aria-label', 'alt'])
        check(node.getAttribute(name), `${name} of <${node.localName} class="${node.className}">`);
    } else check(node.textContent, `<${node.parentElement?.localName} class="${node.parentElement?.className}">`);
  }
  return [...new Set(harm)].slice(0, 20);
}
