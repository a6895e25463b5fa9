/** The hand of a person with a mouse: counts the clicks of a journey and how long it takes. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';

/** The seconds leave room for a machine that is busy with other tests. */
export type Budget = { clicks: number; seconds: number };

export type Hand = ReturnType<typeof openHand>;

export function openHand(page: Page) {
  const startedAt = performance.now();
  let clicks = 0;
  const click = async (thing: Locator) => {
    await thing.click();
    clicks += 1;
  };
  return {
    click,
    /** A field that has the focus, or is next after the one that has it, needs no click. */
    async type(field: Locator, text: string) {
      await field.waitFor();
      if (!(await hasFocus(field))) await page.keyboard.press('Tab');
      if (!(await hasFocus(field))) await click(field);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
    },
    /** One click opens the list, one picks. */
    async choose(list: Locator, label: string) {
      await list.selectOption(label);
      clicks += 2;
    },
    /** The way ends here: prints what it took and holds it against what was promised. */
    arrive(t: TestContext, { clicks: mostClicks, seconds: mostSeconds }: Budget) {
      const seconds = (performance.now() - startedAt) / 1_000;
      t.diagnostic(`${clicks} of at most ${mostClicks} clicks, ${seconds.toFixed(1)} of at most ${mostSeconds} s`);
      assert.ok(clicks <= mostClicks, `it took ${clicks} clicks`);
      assert.ok(seconds <= mostSeconds, `it took ${seconds} s`);
    },
  };
}

export function hasFocus(thing: Locator): Promise<boolean> {
  return thing.evaluate((element) => element === document.activeElement);
}
