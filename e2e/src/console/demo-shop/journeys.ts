/** People come to the console for these: each way stays within its budget of clicks and time. */
import { suite, test, type TestContext } from 'node:test';
import { whatWasSeen } from '../visitor.ts';
import { addDestination } from './journeys/add-destination.ts';
import { checkReceiver } from './journeys/check-receiver.ts';
import { eraseUser } from './journeys/erase-user.ts';
import { findReason } from './journeys/find-reason.ts';
import { raiseLimit } from './journeys/raise-limit.ts';
import { recoverAccount } from './journeys/recover-account.ts';
import { sendAgain } from './journeys/send-again.ts';
import { watchAudience } from './journeys/watch-audience.ts';
import { tryFilter } from './journeys/try-filter.ts';
import type { Place } from './journeys/place.ts';
import { demoShop } from './shop.ts';

/** A way that does not end where it should tells what the person saw. */
const go = (journey: (place: Place) => Promise<void>) => async (t: TestContext) => {
  try {
    await journey({ t, ...demoShop() });
  } catch (error) {
    t.diagnostic(whatWasSeen());
    throw error;
  }
};

suite('a journey', () => {
  test('the reason of a failed delivery is at most 3 clicks away from home', go(findReason));

  test('dead letters are sent again after a count, and the audit log has who did it', go(sendAgain));

  test(
    'a destination is added by keyboard alone: a private address is refused in words, then corrected, tested and healthy',
    go(addDestination),
  );

  test('a filter shows what it lets through before it is saved, and then holds for new events', go(tryFilter));

  test('the check-up finds a receiver that does not verify signatures, and says what to change', go(checkReceiver));

  test(
    'a user is erased after a preview and the typed id, with a receipt, and only the tombstone is found afterwards',
    go(eraseUser),
  );

  test('the operator raises a limit, and the workspace sees it beside its use', go(raiseLimit));

  test('a lost password: an owner makes a link, and the member alone chooses a new one', go(recoverAccount));

  // The last one: its audience has a destination whose receiver is gone afterwards, and every user's deletion would wait for it.
  test(
    'an audience is built with its size in sight, told to a destination, and says why somebody entered',
    go(watchAudience),
  );
});
