/**
 * Decides which tries to sign in are hashed, and when. A try passes the limits of its network and its account or is refused, then it
 * waits for its turn to be hashed. A try from a known browser (device-cookie.ts) has a limit of its own instead: an attacker who
 * uses up the limits of an account or a network does not lock out the people who sign in where they always do.
 */
import { networkOf } from '../../http/network-of.ts';
import { ApiProblem } from '../problems/problems.ts';
import type { HashLine, HashTurn } from './hash-turns.ts';
import { openTryLimiter } from './limit-tries.ts';

/** `deviceId`: of a browser that has signed in to this account before. */
export type Attempt = { email: string; address: string; deviceId: string | undefined };

export type Admitted = HashTurn & {
  /** The limit of the account, over all networks, does not apply. */
  isKnown: boolean;
};

export type SignInGuard = {
  /** Throws `too_many_tries` or `sign_in_busy`. The turn is to be disposed; a right try calls `succeeded`. */
  enter(attempt: Attempt): Promise<Admitted>;
};

type Turns = { enter(line: HashLine): Promise<HashTurn | undefined> };

/** Wrong tries a minute. A right one is taken back. */
const OF_ACCOUNT_IN_NETWORK = 10;
const OF_NETWORK = 30;
const OF_DEVICE = 10;
/** Wrong tries in half an hour after which a network waits in the line of failing ones. */
const FRESH_TRIES = 3;
const FRESH_MS = 30 * 60_000;

export function openSignInGuard(turns: Turns, nowMs: () => number): SignInGuard {
  const minute = openTryLimiter(nowMs);
  const lately = openTryLimiter(nowMs, FRESH_MS);

  return {
    async enter({ email, address, deviceId }) {
      const device = `device ${deviceId}`;
      const isKnown = deviceId !== undefined && minute.take(device, OF_DEVICE);
      const network = networkOf(address);
      const account = JSON.stringify([email.toLowerCase(), network]);
      const isFewEnough = isKnown || (minute.take(network, OF_NETWORK) && minute.take(account, OF_ACCOUNT_IN_NETWORK));
      if (!isFewEnough) throw new ApiProblem('too_many_tries');
      const isFresh = isKnown || lately.take(network, FRESH_TRIES);
      const turn = await turns.enter(lineOf(isKnown, isFresh));
      if (turn === undefined) throw new ApiProblem('sign_in_busy');
      return {
        isKnown,
        succeeded() {
          turn.succeeded();
          if (isKnown) return minute.forget(device);
          minute.giveBack(network);
          minute.forget(account);
          lately.giveBack(network);
        },
        [Symbol.dispose]: () => turn[Symbol.dispose](),
      };
    },
  };
}

function lineOf(isKnown: boolean, isFresh: boolean) {
  if (isKnown) return 'known';
  return isFresh ? 'fresh' : 'failing';
}
