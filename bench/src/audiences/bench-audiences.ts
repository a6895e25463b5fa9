import { openDice } from '../../../server/testing/compute/dice.ts';
import { useAllCores } from '../replay/installation.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import { type OtherTimes, spend } from '../replay/watch-other.ts';
import type { Verdict } from '../run.ts';
import {
  type Added,
  addDefinitions,
  addShop,
  addWebhook,
  type Installation,
  openInstallation,
} from './installation.ts';
import { type Cost, measureCost, type Size } from './measure-cost.ts';
import { type Creation, measureCreation } from './measure-creation.ts';
import { type Expiry, measureExpiry, VISIT } from './measure-expiry.ts';
import { measureNeighbour } from './measure-neighbour.ts';
import { measurePreviews, type Previews } from './measure-preview.ts';
import { PROBE, probe } from './probe-load.ts';
import { fiftyDefinitions } from './shop.ts';
import { openTold, type Told } from './told.ts';

const GOALS = {
  cpuUs: 150,
  profileBytes: 500,
  toldP50Ms: 200,
  toldP99Ms: 1_000,
  disturbedP99Ms: 2_000,
  outSeconds: 60,
  liveSeconds: 30,
  previewMs: 1_000,
  previewsInside: 93,
};

type Sizes = {
  small: Size;
  large: Size;
  probeMs: number;
  visitors: number;
  aheadMs: number;
  backlog: number;
  turns: number;
};

const FULL: Sizes = {
  small: { users: 125_000, events: 625_000 },
  large: { users: 1_000_000, events: 5_000_000 },
  probeMs: 60_000,
  visitors: 100_000,
  aheadMs: 240_000,
  backlog: 150_000,
  turns: 3,
};
const QUICK: Sizes = {
  small: { users: 4_000, events: 20_000 },
  large: { users: 16_000, events: 80_000 },
  probeMs: 10_000,
  visitors: 2_000,
  aheadMs: 40_000,
  backlog: 40_000,
  turns: 1,
};
const TURN_MS = 8_000;
const WARM_UP_MS = 5_000;

/** 50 definitions over real streams: the cost of an event, the time until a change is told, and the effect on the other roles. */
export async function benchAudiences({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  useAllCores();
  const sizes = isQuick ? QUICK : FULL;
  const small = say('small', await costAlone(sizes.small));
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const { shop, large, destinationId = '' } = await costOf(stack, sizes.large, receivers);
  say('large', large);
  const { users } = sizes.large;
  const told = openTold(receivers);
  const steady = say('steady', await timeTelling(stack, shop, { told, users, ms: sizes.probeMs }));
  const { visitors, aheadMs, backlog, turns } = sizes;
  const expiry = say('expiry', await measureExpiry(stack, shop, { told, users, visitors, aheadMs }));
  const creation = say('creation', await measureCreation(stack, shop, { told, users, destinationId }));
  const previews = say('previews', await measurePreviews(stack));
  const turnsOf = { receivers, users, backlog, turns, turnMs: TURN_MS };
  const neighbour = say('neighbour', await measureNeighbour(stack, shop, turnsOf));
  const figures = { small, large, steady, expiry, creation, previews, neighbour };
  const tenMillion = extrapolate(small, large, 10_000_000);
  const missed = missedGoals(figures);
  return { isGood: missed.length === 0, figures: { bench: 'audiences', goals: GOALS, missed, tenMillion, ...figures } };
}

/** A run takes long, and each part is worth knowing if a later one fails. */
function say<T>(what: string, figures: T): T {
  console.log(what, JSON.stringify(figures));
  return figures;
}

type Figures = { large: Cost; steady: OtherTimes; expiry: Expiry; creation: Creation; previews: Previews };

function missedGoals({ large, steady, expiry, creation, previews }: Figures): string[] {
  const isMet = {
    cpuUs: large.cpuUs.all <= GOALS.cpuUs,
    profileBytes: large.profileBytes <= GOALS.profileBytes,
    toldP50Ms: steady.p50Ms <= GOALS.toldP50Ms,
    toldP99Ms: steady.p99Ms <= GOALS.toldP99Ms,
    disturbedP99Ms: Math.max(expiry.during.p99Ms, creation.during.p99Ms) <= GOALS.disturbedP99Ms,
    outSeconds: expiry.outSeconds <= GOALS.outSeconds,
    noneEarly: expiry.early === 0,
    liveSeconds: creation.liveSeconds <= GOALS.liveSeconds,
    toldOnce: creation.once === creation.members && creation.strangers === 0,
    previewMs: previews.slowestMs <= GOALS.previewMs,
    previewsInside: previews.inside >= GOALS.previewsInside,
  };
  return Object.entries(isMet).flatMap(([goal, met]) => (met ? [] : [goal]));
}

async function costAlone(size: Size): Promise<Cost> {
  await using stack = await openInstallation();
  return (await costOf(stack, size)).large;
}

/** The 50 have no destination, so the relay sends nothing of them; the others have the webhook. */
async function costOf(stack: Installation, size: Size, receivers?: Receivers) {
  const shop = await addShop(stack);
  const fifty = fiftyDefinitions(openDice(7)).map(
    (definition, nth): Added => ({ key: `definition_${nth}`, definition }),
  );
  await addDefinitions(stack, shop, fifty);
  let destinationId: string | undefined;
  if (receivers !== undefined) {
    destinationId = await addWebhook(stack, receivers.toldUrl);
    const destinations = [destinationId];
    const audience = (when: object) => ({ kind: 'audience', name: 'Told', when }) as Added['definition'];
    await addDefinitions(stack, shop, [
      { key: PROBE.key, definition: audience({ event: PROBE.event, window: '30d', atLeast: 1 }), destinations },
      { key: VISIT.key, definition: audience({ event: VISIT.event, window: VISIT.window, atLeast: 1 }), destinations },
    ]);
  }
  return { shop, destinationId, large: await measureCost(stack, shop, size) };
}

async function timeTelling(
  stack: Installation,
  shop: Awaited<ReturnType<typeof addShop>>,
  { told, users, ms }: { told: Told; users: number; ms: number },
): Promise<OtherTimes & { eventsPerSecond: number; refused: number }> {
  let span = { from: 0, to: 0 };
  const work = async () => {
    await spend(WARM_UP_MS);
    span = await spend(ms);
  };
  const times = await probe(stack, shop, { told, users, work });
  return { ...times.timesIn([span]), eventsPerSecond: times.eventsPerSecond, refused: times.refused };
}

/** Figures that grow with the number of profiles, by the line through two sizes. */
function extrapolate(small: Cost, large: Cost, users: number) {
  const at = (of: (cost: Cost) => number) => {
    const slope = (of(large) - of(small)) / Math.log2(large.users / small.users);
    return Math.round((of(large) + slope * Math.log2(users / large.users)) * 10) / 10;
  };
  const profileBytes = at(({ profileBytes: bytes }) => bytes);
  return {
    users,
    cpuUs: at(({ cpuUs }) => cpuUs.all),
    profileBytes,
    profilesGb: Math.round((profileBytes * users) / 1e8) / 10,
    databaseGb: Math.round(((large.databaseGb - small.databaseGb) / (large.users - small.users)) * users * 10) / 10,
  };
}
