import { loadavg } from 'node:os';
import { freePorts, startNatsCluster } from '@millrace/engines';
import { openLog } from '../../../server/src/log.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import type { TailFilter } from '../../../server/src/stream/signals/tail-entry.ts';
import type { Tails } from '../../../server/src/stream/signals/tail-listener.ts';
import { batchTemplate, singleTemplate } from '../collect/load.ts';
import { startCollect } from '../collect/servers.ts';
import type { Verdict } from '../run.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import { judgeTurns, type Turn } from './judge-turns.ts';
import { cpuOf, round } from './measure-cpu.ts';
import { driveSteadily, type SteadyLoad } from './steady-load.ts';

const CALLS_PER_SECOND = 1_000;
const VIEWERS = 10;
const GOAL = 1.05;

const LOADS = [
  { name: 'one call a request', path: '/v1/track', template: singleTemplate(), calls: 1 },
  { name: 'batches of 20', path: '/v1/batch', template: batchTemplate(), calls: 20 },
];

const WISHES: Readonly<Record<string, (viewer: number) => TailFilter>> = {
  everything: () => ({}),
  'ten different users': (viewer) => ({ userId: `user-${viewer * 7919}` }),
};

/** CPU of collect at a steady rate, with and without viewers by turns: the cost of tailing for the tailed source. */
export async function benchTail({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  await using cluster = await startNatsCluster({ maxFileStoreMb: 20_000 });
  const [port = 0] = await freePorts(1);
  await using server = await startCollect()(cluster.url, port);
  const log = openLog({ level: 'error', pretty: false });
  await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
  using tails = stream.tails();
  // Four comparisons, each of all turns with two measurements: six minutes, or two and a half.
  const plan = isQuick ? { turns: 6, seconds: 3 } : { turns: 11, seconds: 4 };
  const figures: Record<string, unknown> = { callsPerSecond: CALLS_PER_SECOND, viewers: VIEWERS, goal: GOAL };
  let isGood = true;
  for (const { name, path, ...rest } of LOADS) {
    const load = { ...rest, url: `http://127.0.0.1:${port}${path}`, callsPerSecond: CALLS_PER_SECOND };
    await driveSteadily(load, 3);
    for (const [wish, filterOf] of Object.entries(WISHES)) {
      const compared = await compare({ load, pid: server.pid, tails, filterOf }, plan);
      console.log(`${name}, ${VIEWERS} viewers of ${wish}: ${JSON.stringify(compared)}`);
      figures[`${name}, ${wish}`] = compared;
      isGood &&= compared.verdict === 'within the goal';
    }
  }
  return { isGood, figures: { bench: 'tail', ...figures, load: loadavg()[0] } };
}

type Scene = { load: SteadyLoad; pid: number; tails: Tails; filterOf(viewer: number): TailFilter };

/** Each turn is a time without viewers and one with them, which of the two comes first by turns. */
async function compare({ load, pid, tails, filterOf }: Scene, { turns, seconds }: { turns: number; seconds: number }) {
  const measured: Turn[] = [];
  let heard = 0;
  const measure = () => cpuOf(pid, () => driveSteadily(load, seconds));
  const watch = async () => {
    using viewers = new DisposableStack();
    for (let viewer = 0; viewer < VIEWERS; viewer += 1) {
      viewers.use(tails.listen('src_bench', filterOf(viewer), (entries) => (heard += entries.length)));
    }
    return await measure();
  };
  for (let turn = 0; turn < turns; turn += 1) {
    const early = turn % 2 === 1 ? await watch() : undefined;
    const quiet = await measure();
    measured.push({ quiet, watched: early ?? (await watch()) });
  }
  return { ...judgeTurns(measured, GOAL), heardPerViewerPerSecond: round(heard / VIEWERS / turns / seconds) };
}
