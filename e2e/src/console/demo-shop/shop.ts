import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { type DemoStage, openDemoStage } from '../console-stage.ts';
import { asker, findIds } from '../find-ids.ts';
import type { Ids } from '../screens.ts';
import { launchBrowser } from '../visitor.ts';

/** All suites of demo-shop.test.ts share it. */
export type Shop = { stage: DemoStage; browser: Browser; ids: Ids };

const opened = new AsyncDisposableStack();
let shop: Shop | undefined;

before(async () => {
  const stage = opened.use(await openDemoStage(1));
  const browser = opened.use(await launchBrowser({ isLight: true }));
  shop = { stage, browser, ids: await findIds(asker(stage, stage.token)) };
});
after(() => opened.disposeAsync());

/** For hooks and tests: it opens after the suites are described, and before the first of them begins. */
export function demoShop(): Shop {
  if (shop === undefined) throw new Error('the demo shop is not open yet');
  return shop;
}
