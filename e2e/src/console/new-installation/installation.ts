import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { openNewStage, type Stage } from '../console-stage.ts';
import { launchBrowser, type Visit } from '../visitor.ts';

/** All suites of new-installation.test.ts share it. */
export type Installation = { stage: Stage & { setupPath: string }; browser: Browser };

export const WORKSPACE = 'Fernhill Outdoor';
export const OWNER_NAME = 'Mara Lindt';
export const OWNER = { email: 'mara@fernhill.example', password: 'a long enough password' };

const opened = new AsyncDisposableStack();
let installation: Installation | undefined;

before(async () => {
  const stage = opened.use(await openNewStage());
  installation = { stage, browser: opened.use(await launchBrowser({ isLight: true })) };
});
after(() => opened.disposeAsync());

/** For hooks and tests: it opens after the suites are described, and before the first of them begins. */
export function newInstallation(): Installation {
  if (installation === undefined) throw new Error('the installation is not open yet');
  return installation;
}

/** Each suite that connects one leaves the workspace without it. */
export async function disconnectProvider({ page }: Visit): Promise<void> {
  const headers = { 'Millrace-Csrf': '1', Origin: newInstallation().stage.url };
  const answer = await page.request.delete('/api/v1/single-sign-on', { headers });
  if (answer.status() !== 204) throw new Error(`it was answered ${answer.status()}: ${await answer.text()}`);
}
