import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { unansweredProblems } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { viewEngine } from '../engine-view.ts';
import { joinFindings } from '../join-findings.ts';
import { countOutcomes, longestGap, longestGapMs, type Span } from '../measure-attempts.ts';
import {
  aloneIn,
  type Cut,
  CUT_WISHES,
  type CutWish,
  drawCut,
  drawWishes,
  isServed,
  OTHER_HOSTS,
} from '../net/draw-cut.ts';
import { judgeCuts, type SeenCut } from '../net/judge-cuts.ts';
import { openPartitionScene, type PartitionScene } from '../net/open-partition-scene.ts';
import { firstMoveIn } from '../net/read-moves.ts';
import { whyNoHosts } from '../net/run-ip.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';
import type { Oracle } from '../oracle.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { Random } from '../seeded-random.ts';
import { waitUntil } from '../wait-until.ts';
import { CALLS_PER_BATCH, DESTINATIONS_PER_SOURCE } from './kill-deliver.ts';
import { finishExactly } from './stop-recorder.ts';

/** One of each sort, of those that differ most. */
const CI_CUTS: readonly CutWish[] = [
  { kind: 'server from servers', direction: 'both', ofCollect: true },
  { kind: 'role from servers', direction: 'there' },
  { kind: 'control from database', direction: 'both' },
  { kind: 'deliver from receivers', direction: 'back' },
  { kind: 'server and roles from servers', direction: 'both' },
];
const SHORT_MS = [2_000, 4_000] as const;
/** Longer than pings take to notice it, and longer than the lease of a lane. */
const LONG_MS = [6_000, 20_000] as const;
const QUIET_MS = [500, 3_000] as const;
const WARM_UP_MS = 1_500;
const LEADERS_WITHIN_MS = 60_000;
const CAUGHT_UP_WITHIN_MS = 300_000;
/** Packets that were lost are sent again a little later than the hop works again, and processes learn of leaders later than we do. */
const AFTERMATH_MS = 2_000;
/** Requests in flight when the hop was cut may still have been answered. */
const ON_ITS_WAY_MS = 50;
const SAMPLE_MS = 250;
/** A lane removes delivered groups half a second later, or at the end of a drain. */
const LANE_MEMORY_MS = 1_000;

/**
 * Three servers and each role are hosts of their own. Links between them are cut in every way, in both directions or in one, so that packets
 * vanish without a word, and are healed after a random time. Nothing is lost, repeated without bound or missing in the record; clients are
 * served while collect reaches a majority, and everything goes on by itself afterwards.
 */
export async function partition(run: FaultRun): Promise<Findings> {
  const missing = whyNoHosts();
  if (missing !== undefined) return { failures: [missing], late: [], figures: {} };
  await using scene = await openPartitionScene(run);
  const { whole } = scene;
  const { oracle } = whole.scene;
  const load = whole.scene.load({ batchesPerSecond: 10, sizes: [CALLS_PER_BATCH, CALLS_PER_BATCH] });
  await sleep(WARM_UP_MS);
  const strikes: Strike[] = [];
  const seen: SeenCut[] = [];
  for (const wish of run.isFull ? drawWishes(run.random, CUT_WISHES.length) : CI_CUTS) {
    const done = await cutOnce(scene, run, wish);
    strikes.push(done.strike);
    seen.push(done.seen);
    run.say(`cut and healed: ${JSON.stringify(done.seen)}`);
    await sleep(run.random.between(...QUIET_MS));
  }
  const found = await finishExactly(whole, load, strikes, { mayVanish: true });
  const { late, figures } = judgeCuts(seen);
  const copies = await watchCopies(whole, run.isFull);
  // In CI others work beside it, and would make a correct product late.
  return joinFindings(
    judgeAnswers(oracle),
    { late: run.isFull ? late : [], figures: { ...figures, ...copies } },
    found,
  );
}

/** Copies that are shorter than their leader's. NATS takes up to a minute to bring them up to date; only the full size has that time. */
async function watchCopies({ scene, outcomes }: PartitionScene['whole'], isFull: boolean) {
  const engine = viewEngine(scene.cluster, [...EVENT_STREAM_NAMES, ...outcomes]);
  const behind = await engine.behind();
  if (!isFull) return { behind };
  const isDone = async () => (await engine.behind()).length === 0;
  const caughtUpMs = await waitUntil('every copy is as long as its leader', CAUGHT_UP_WITHIN_MS, isDone);
  return { behind, caughtUpMs: Math.round(caughtUpMs) };
}

/** Every request is answered, and in the end with 200. */
function judgeAnswers({ calls, attempts }: Oracle): Findings {
  const answers = countOutcomes(attempts);
  const wrong = Object.entries(answers).filter(([outcome]) => outcome !== '200' && outcome !== '503');
  const failures = [
    ...unansweredProblems({ calls }),
    ...wrong.map(([outcome, count]) => `${count} requests ended with ${outcome}`),
  ];
  return joinFindings({ failures, figures: { answers } });
}

async function cutOnce(scene: PartitionScene, run: FaultRun, wish: CutWish) {
  const { whole, network, hosts } = scene;
  const { oracle } = whole.scene;
  const cut = drawCut(wish, run.random, { ...hosts, holder: await holderIn(scene) });
  const forMs = drawLength(run);
  const served = isServed(cut, hosts);
  const ledAll = await isLedBy(scene, aloneIn(cut, hosts));
  await using inFlight = watchInFlight(whole.scene);
  const from = performance.now();
  await network.cut(cut.hops);
  run.say(`cut for ${Math.round(forMs)} ms (${cut.direction}): ${cut.what}`);
  await sleep(forMs);
  if (served) await oracle.nextStored(from + ON_ITS_WAY_MS);
  const healedAt = performance.now();
  await network.heal();
  const { leadersMs, storedMs } = await isBack(scene, healedAt);
  await sleep(AFTERMATH_MS);
  const span = { from, to: performance.now() };
  const strike: Strike = { what: describe(cut), from, until: span.to, inFlight: await inFlight.most(span, cut) };
  const seen: SeenCut = {
    kind: cut.kind,
    direction: cut.direction,
    what: cut.what,
    isServed: served,
    ledAll,
    lastedMs: Math.round(healedAt - from),
    ...measure(whole.scene, span),
    leadersMs,
    storedMs,
  };
  return { strike, seen };
}

/** Resolves when streams and consumers have leaders, and a request that began after the healing is stored. */
async function isBack({ whole }: PartitionScene, healedAt: number) {
  const { scene, outcomes } = whole;
  const engine = viewEngine(scene.cluster, [...EVENT_STREAM_NAMES, ...outcomes]);
  const hasLeaders = async () => (await engine.leftovers()).isWhole && (await scene.engine.leftovers()).isWhole;
  const [leadersMs, { endedAt }] = await Promise.all([
    waitUntil('streams and consumers have leaders', LEADERS_WITHIN_MS, hasLeaders),
    scene.oracle.nextStored(healedAt),
  ]);
  return { leadersMs: Math.round(leadersMs), storedMs: Math.round(endedAt - healedAt) };
}

function measure(scene: DeliverScene, span: Span): Pick<SeenCut, 'outageMs' | 'arrivalGapMs' | 'leftMs'> {
  const leftAt = firstMoveIn(readFileSync(scene.collect.logFile, 'utf8'), 'millrace-publish', span);
  return {
    outageMs: longestGapMs(scene.oracle.attempts, span),
    arrivalGapMs: longestGap(
      scene.arrivals.map(({ at }) => at),
      span,
    ),
    leftMs: leftAt === undefined ? undefined : Math.round(leftAt - span.from),
  };
}

async function holderIn({ whole, network }: PartitionScene): Promise<string> {
  const { address } = network.on(OTHER_HOSTS.collect);
  const holder = await whole.scene.engine.holderOf('millrace-publish', address);
  if (holder === undefined) throw new Error('no server holds the connection of collect');
  return holder.name;
}

async function isLedBy({ whole }: PartitionScene, servers: readonly string[]): Promise<boolean> {
  const leaders = await whole.scene.engine.leaders();
  return EVENT_STREAM_NAMES.every((stream) => servers.includes(leaders.get(stream)?.name ?? ''));
}

function drawLength({ isFull, random }: { isFull: boolean; random: Random }): number {
  const [least, most] = random.next() < 0.4 && isFull ? LONG_MS : SHORT_MS;
  return random.between(least, most);
}

function describe({ what, direction }: Cut): string {
  return `cut of ${what}${direction === 'both' ? '' : `, ${direction} only`}`;
}

type InFlightWatch = AsyncDisposable & {
  /** The most deliveries of unacknowledged requests at a time, and each arrival whose end deliver may not have seen or could not say. */
  most(span: Span, cut: Cut): Promise<number>;
};

function watchInFlight(scene: DeliverScene): InFlightWatch {
  const ending = new AbortController();
  let most = 0;
  const look = async () => {
    const { unacknowledged } = await scene.engine.leftovers();
    most = Math.max(most, unacknowledged * CALLS_PER_BATCH * DESTINATIONS_PER_SOURCE);
  };
  const looking = (async () => {
    while (!ending.signal.aborted) {
      await look();
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    async most({ from, to }, { kind }) {
      await look();
      await scene.receivers.heard();
      const mayVanish = kind === 'deliver from receivers';
      const arrived = scene.arrivals.filter(({ at }) => at > from - LANE_MEMORY_MS && at <= to);
      return most + arrived.filter(({ attempt }) => mayVanish || attempt > 1).length;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await looking;
    },
  };
}
