import { freePorts, startNatsCluster } from '@millrace/engines';
import { openLog } from '../../../server/src/log.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import type { TailFilter } from '../../../server/src/stream/tail-entry.ts';
import type { Tails } from '../../../server/src/stream/tail-listener.ts';
import { batchTemplate, singleTemplate } from '../collect/load.ts';
import { startOurs } from '../collect/servers.ts';
import type { Verdict } from '../run.ts';
import { cpuOf, median, round } from './measure-cpu.ts';
import { driveSteadily, type SteadyLoad } from './steady-load.ts';

const CALLS_PER_SECOND = 1_000;
const VIEWERS = 10;
const GOAL = 1.05;

const SETTINGS = {
  replicas: 1,
  eventStreams: 2,
  laneStreams: 2,
  retentionMs: 259_200_000,
  dedupWindowMs: 600_000,
} as const;

const LOADS = [
  { name: 'one call a request', path: '/v1/track', template: singleTemplate(), calls: 1 },
  { name: 'batches of 20', path: '/v1/batch', template: batchTemplate(), calls: 20 },
];

const WISHES: Readonly<Record<string, (viewer: number) => TailFilter>> = {
  everything: () => ({}),
  'ten different users': (viewer) => ({ userId: `user-${viewer * 7919}` }),
};

/** CPU of collect at a steady rate, with and without viewers by turns: what looking on costs the one who is looked at. */
export async function benchTail({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  await using cluster = await startNatsCluster({ maxFileStoreMb: 20_000 });
  const [port = 0] = await freePorts(1);
  await using server = await startOurs(cluster.url, port);
  const log = openLog({ level: 'error', pretty: false });
  await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
  using tails = stream.tails();
  const plan = isQuick ? { turns: 6, seconds: 3 } : { turns: 16, seconds: 5 };
  const figures: Record<string, unknown> = { callsPerSecond: CALLS_PER_SECOND, viewers: VIEWERS, goal: GOAL };
  let isGood = true;
  for (const { name, path, ...rest } of LOADS) {
    const load = { ...rest, url: `http://127.0.0.1:${port}${path}`, callsPerSecond: CALLS_PER_SECOND };
    await driveSteadily(load, 3);
    for (const [wish, filterOf] of Object.entries(WISHES)) {
      const compared = await compare({ load, pid: server.pid, tails, filterOf }, plan);
      console.log(`${name}, ${VIEWERS} viewers of ${wish}: ${JSON.stringify(compared)}`);
      figures[`${name}, ${wish}`] = compared;
      isGood &&= compared.ratio <= GOAL;
    }
  }
  return { isGood, figures: { bench: 'tail', ...figures } };
}

type Scene = { load: SteadyLoad; pid: number; tails: Tails; filterOf(viewer: number): TailFilter };

/** `noise` is the same ratio between two halves of the turns without viewers: how much to believe. */
async function compare({ load, pid, tails, filterOf }: Scene, { turns, seconds }: { turns: number; seconds: number }) {
  const quiet: number[] = [];
  const watched: number[] = [];
  let heard = 0;
  const drive = () => driveSteadily(load, seconds);
  const watch = async () => {
    using viewers = new DisposableStack();
    for (let viewer = 0; viewer < VIEWERS; viewer += 1) {
      viewers.use(tails.listen('src_bench', filterOf(viewer), (entries) => (heard += entries.length)));
    }
    watched.push(await cpuOf(pid, drive));
  };
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn % 2 === 1) await watch();
    quiet.push(await cpuOf(pid, drive));
    if (turn % 2 === 0) await watch();
  }
  const half = (rest: number) => median(quiet.filter((_, turn) => turn % 2 === rest));
  return {
    ratio: round(median(watched) / median(quiet)),
    noise: round(half(0) / half(1)),
    quietCpu: round(median(quiet)),
    watchedCpu: round(median(watched)),
    heardPerViewerPerSecond: round(heard / VIEWERS / turns / seconds),
  };
}
