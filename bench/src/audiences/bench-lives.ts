import { useAllCores } from '../pin.ts';
import { startReceivers } from '../replay/start-receivers.ts';
import type { Verdict } from '../run.ts';
import { openInstallation } from './installation.ts';
import { measureCost } from './measure-cost.ts';
import { type Creation, measureCreation } from './measure-creation.ts';
import { type Expiry, measureExpiry } from './measure-expiry.ts';
import { openShop } from './open-shop.ts';
import { say } from './say.ts';
import { openTold } from './told.ts';

const GOALS = { outSeconds: 60, liveSeconds: 30, disturbedP99Ms: 2_000 };
const FULL = { users: 1_000_000, events: 1_500_000, visitors: 100_000, aheadMs: 120_000 };
const QUICK = { users: 16_000, events: 24_000, visitors: 2_000, aheadMs: 40_000 };

/**
 * Everybody at once: an audience that a million profiles are asked for, and 100,000 members who leave in one minute. First while little
 * comes in, then under 2,000 events a second. The goals hold for both, but for that of other changes, which needs the load.
 */
export async function benchLives({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  useAllCores();
  const { users, events, visitors, aheadMs } = isQuick ? QUICK : FULL;
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const { shop, destinationId } = await openShop(stack, receivers);
  say('profiles', await measureCost(stack, shop, { users, events }));
  const told = openTold(receivers);
  const figures = {
    creation: say('creation', await measureCreation(stack, shop, { told, users, load: 'light', destinationId })),
    expiry: say('expiry', await measureExpiry(stack, shop, { told, users, load: 'light', visitors, aheadMs })),
    loaded: {
      creation: say('under load', await measureCreation(stack, shop, { told, users, load: 'full', destinationId })),
      expiry: say('under load', await measureExpiry(stack, shop, { told, users, load: 'full', visitors, aheadMs })),
    },
  };
  const missed = missedGoals(figures);
  return { isGood: missed.length === 0, figures: { bench: 'lives', goals: GOALS, missed, ...figures } };
}

type Both = { creation: Creation; expiry: Expiry };

function missedGoals({ loaded, ...light }: Both & { loaded: Both }): string[] {
  const under = { light: isMet(light), load: { ...isMet(loaded), disturbedP99Ms: isUndisturbed(loaded) } };
  return Object.entries(under).flatMap(([load, goals]) =>
    Object.entries(goals).flatMap(([goal, met]) => (met ? [] : [`${goal} under ${load}`])),
  );
}

function isMet({ creation, expiry }: Both) {
  const { liveSeconds, once, resent, members, strangers } = creation;
  return {
    outSeconds: expiry.outSeconds <= GOALS.outSeconds,
    noneEarly: expiry.early === 0,
    liveSeconds: liveSeconds <= GOALS.liveSeconds,
    toldOnce: once === members && resent === 0 && strangers === 0,
  };
}

function isUndisturbed({ creation, expiry }: Both): boolean {
  return Math.max(creation.during.p99Ms, expiry.during.p99Ms) <= GOALS.disturbedP99Ms;
}
