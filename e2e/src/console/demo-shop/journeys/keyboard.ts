/** A person without a mouse. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { hasFocus } from './hand.ts';

const MOST_TABS = 120;

export function openKeyboard(page: Page) {
  let keys = 0;
  const press = async (key: string) => {
    await page.keyboard.press(key);
    keys += 1;
  };
  /** Presses Tab until the thing has the focus. */
  const tabTo = async (thing: Locator) => {
    await thing.waitFor();
    for (let tabs = 0; !(await hasFocus(thing)); tabs += 1) {
      assert.ok(tabs < MOST_TABS, `${String(thing)} cannot be reached with ${MOST_TABS} times Tab`);
      await press('Tab');
    }
  };
  return {
    press,
    tabTo,
    async use(thing: Locator) {
      await tabTo(thing);
      await press('Enter');
    },
    /** In a list, typing the beginning of an entry picks it. */
    async type(field: Locator, text: string) {
      await tabTo(field);
      await press('ControlOrMeta+A');
      await page.keyboard.type(text);
      keys += text.length;
    },
    keys: () => keys,
  };
}
