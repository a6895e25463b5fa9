/** People come to the console for these: each way stays within its budget of clicks and time. One demo shop serves all. */
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type DemoStage, openDemoStage } from './console-stage.ts';
import { addDestination } from './journeys/add-destination.ts';
import { checkReceiver } from './journeys/check-receiver.ts';
import { eraseUser } from './journeys/erase-user.ts';
import { findReason } from './journeys/find-reason.ts';
import { raiseLimit } from './journeys/raise-limit.ts';
import { recoverAccount } from './journeys/recover-account.ts';
import { sendAgain } from './journeys/send-again.ts';
import { watchAudience } from './journeys/watch-audience.ts';
import { tryFilter } from './journeys/try-filter.ts';
import { launchBrowser } from './visitor.ts';

const opened = new AsyncDisposableStack();
let stage: DemoStage;
let browser: Browser;

before(async () => {
  stage = opened.use(await openDemoStage());
  browser = opened.use(await launchBrowser());
});
after(() => opened.disposeAsync());

test('the reason of a failed delivery is at most 3 clicks away from home', (t) => findReason({ t, stage, browser }));

test('dead letters are sent again after a count, and the audit log has who did it', (t) =>
  sendAgain({ t, stage, browser }));

test('a destination is added by keyboard alone: a private address is refused in words, then corrected, tested and healthy', (t) =>
  addDestination({ t, stage, browser }));

test('a filter shows what it lets through before it is saved, and then holds for new events', (t) =>
  tryFilter({ t, stage, browser }));

test('the check-up finds a receiver that does not verify signatures, and says what to change', (t) =>
  checkReceiver({ t, stage, browser }));

test('a user is erased after a preview and the typed id, with a receipt, and only the tombstone is found afterwards', (t) =>
  eraseUser({ t, stage, browser }));

test('the operator raises a limit, and the workspace sees it beside its use', (t) => raiseLimit({ t, stage, browser }));

test('a lost password: an owner makes a link, and the member alone chooses a new one', (t) =>
  recoverAccount({ t, stage, browser }));

// The last one: its audience has a destination whose receiver is gone afterwards, and every user's deletion would wait for it.
test('an audience is built with its size in sight, told to a destination, and says why somebody entered', (t) =>
  watchAudience({ t, stage, browser }));
