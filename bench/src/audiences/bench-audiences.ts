import { useAllCores } from '../pin.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import { type OtherTimes, type Span, spend } from '../replay/watch-other.ts';
import type { Verdict } from '../run.ts';
import { type Installation, openInstallation, type Shop } from './installation.ts';
import { type Cost, measureCost, type Size } from './measure-cost.ts';
import { measureNeighbour, type Neighbour } from './measure-neighbour.ts';
import { measurePreviews, type Previews } from './measure-preview.ts';
import { openShop } from './open-shop.ts';
import { probe } from './probe-load.ts';
import { say } from './say.ts';
import { openTold, type Told } from './told.ts';

const GOALS = {
  cpuUs: 150,
  profileBytes: 500,
  toldP50Ms: 200,
  toldP99Ms: 1_000,
  previewMs: 1_000,
  previewsInside: 93,
  neighbourRatio: 1.1,
};

type Sizes = {
  small: Size;
  large: Size;
  probeMs: number;
  backlog: number;
  turns: number;
};

const FULL: Sizes = {
  small: { users: 125_000, events: 625_000 },
  large: { users: 1_000_000, events: 5_000_000 },
  probeMs: 60_000,
  backlog: 150_000,
  turns: 3,
};
const QUICK: Sizes = {
  small: { users: 4_000, events: 20_000 },
  large: { users: 16_000, events: 80_000 },
  probeMs: 10_000,
  backlog: 40_000,
  turns: 1,
};
const TURN_MS = 8_000;
const WARM_UP_MS = 5_000;
const STEP_MS = 5_000;

/** 50 definitions over real streams: the cost of an event, the time until a change is told, and the effect on the other roles. */
export async function benchAudiences({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  useAllCores();
  const sizes = isQuick ? QUICK : FULL;
  const small = say('small', await costAlone(sizes.small));
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const { shop, large } = await costOf(stack, sizes.large, receivers);
  say('large', large);
  const { users } = sizes.large;
  const told = openTold(receivers);
  const steady = say('steady', await timeTelling(stack, shop, { told, users, ms: sizes.probeMs }));
  const { backlog, turns } = sizes;
  const previews = say('previews', await measurePreviews(stack));
  const turnsOf = { receivers, users, backlog, turns, turnMs: TURN_MS };
  const neighbour = say('neighbour', await measureNeighbour(stack, shop, turnsOf));
  stack.setApart();
  const apart = say('neighbour apart', await measureNeighbour(stack, shop, turnsOf));
  const figures = { small, large, steady, previews, neighbour, apart };
  const tenMillion = extrapolate(small, large, 10_000_000);
  const missed = missedGoals(figures);
  return { isGood: missed.length === 0, figures: { bench: 'audiences', goals: GOALS, missed, tenMillion, ...figures } };
}

type Figures = { large: Cost; steady: OtherTimes; previews: Previews; neighbour: Neighbour; apart: Neighbour };

function missedGoals({ large, steady, previews, neighbour, apart }: Figures): string[] {
  const isMet = {
    cpuUs: large.cpuUs.all <= GOALS.cpuUs,
    profileBytes: large.profileBytes <= GOALS.profileBytes,
    toldP50Ms: steady.p50Ms <= GOALS.toldP50Ms,
    toldP99Ms: steady.p99Ms <= GOALS.toldP99Ms,
    previewMs: previews.slowestMs <= GOALS.previewMs,
    previewsInside: previews.inside >= GOALS.previewsInside,
    neighbourRatio: Math.max(neighbour.ratios.collect, neighbour.ratios.deliver) <= GOALS.neighbourRatio,
    apartRatio: Math.max(apart.ratios.collect, apart.ratios.deliver) <= GOALS.neighbourRatio,
  };
  return Object.entries(isMet).flatMap(([goal, met]) => (met ? [] : [goal]));
}

async function costAlone(size: Size): Promise<Cost> {
  await using stack = await openInstallation();
  return (await costOf(stack, size)).large;
}

async function costOf(stack: Installation, size: Size, receivers?: Receivers) {
  const { shop } = await openShop(stack, receivers);
  return { shop, large: await measureCost(stack, shop, size) };
}

async function timeTelling(
  stack: Installation,
  shop: Shop,
  { told, users, ms }: { told: Told; users: number; ms: number },
): Promise<OtherTimes & { eventsPerSecond: number; refused: number; p99MsByStep: number[] }> {
  let span = { from: 0, to: 0 };
  const work = async () => {
    await spend(WARM_UP_MS);
    span = await spend(ms);
  };
  const times = await probe(stack, shop, { told, users, load: 'full', work });
  const { eventsPerSecond, refused } = times;
  const p99MsByStep = stepsOf(span).map((step) => times.timesIn([step]).p99Ms);
  return { ...times.timesIn([span]), eventsPerSecond, refused, p99MsByStep };
}

/** A checkpoint or a vacuum shows in some of them, and a slow path in all. */
function stepsOf({ from, to }: Span): Span[] {
  const count = Math.floor((to - from) / STEP_MS);
  return Array.from({ length: count }, (_, nth) => ({ from: from + nth * STEP_MS, to: from + (nth + 1) * STEP_MS }));
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
