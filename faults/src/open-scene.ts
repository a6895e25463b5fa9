import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { eventStreamName } from '../../server/src/stream/layout/layout.ts';
import { checkStored } from './check-stored.ts';
import { type ServerProcess, serverProcess, type Settings } from './server-process.ts';
import { type EngineView, viewEngine } from './engine-view.ts';
import type { Disturbance, Promises } from './judge.ts';
import { joinFindings } from './join-findings.ts';
import { countOutcomes, longestGapMs } from './measure-attempts.ts';
import { openOracle, type Oracle } from './oracle.ts';
import type { FaultRun, Findings } from './run-fault.ts';
import { seededRandom } from './seeded-random.ts';
import { putSources } from './sources.ts';
import { type Load, startLoad } from './start-load.ts';

export type Scene = AsyncDisposable & {
  cluster: NatsCluster;
  engine: EngineView;
  collect: ServerProcess;
  oracle: Oracle;
  load: Load;
  /** Marks the time in which the engine was disturbed: duplicates are explained by it or by nothing. */
  disturb(during: Disturbance): void;
  /** Lets the load end and holds what clients know against what is stored. */
  finish(promises: Promises): Promise<Findings>;
};

export type SceneShape = {
  nodes: 1 | 3;
  batchesPerSecond: number;
  /** Where each server keeps its data, if not with the logs. */
  storeDirs?: readonly string[];
  /** The NATS user of collect; without it there is no password. */
  natsUser?: string;
};

const EVENT_STREAMS = 2;
export const EVENT_STREAM_NAMES: readonly [string, string] = [eventStreamName(0), eventStreamName(1)];
export const STEADY = 40;
const PROGRESS_MS = 3_000;

/** Real servers, a real collect process, and clients that send to it from now on. */
export async function openScene(
  run: FaultRun,
  { nodes, batchesPerSecond, natsUser, ...place }: SceneShape,
): Promise<Scene> {
  await using parts = new AsyncDisposableStack();
  const dir = mkdtempSync(join(run.dir, `${nodes}-node-`));
  const cluster = parts.use(await startNatsCluster({ nodes, dir, ...place }));
  await putSources(cluster.url, nodes, EVENT_STREAMS);
  const credentials = natsUser === undefined ? 'nats://' : `nats://${natsUser}:${natsUser}@`;
  const settings = settingsFor(cluster.url.replaceAll('nats://', credentials), nodes);
  const collect = parts.use(await serverProcess(settings, join(dir, 'collect.log')));
  await collect.start();
  const oracle = openOracle();
  const load = startLoad({ url: collect.url, oracle, random: seededRandom(run.seed + 1), batchesPerSecond });
  // A run that breaks off must not leave its clients behind.
  parts.defer(load.stop);
  const startedAt = performance.now();
  parts.use(sayProgress(run, oracle, load));
  const disturbances: Disturbance[] = [];
  const engine = viewEngine(cluster, EVENT_STREAM_NAMES);
  const open = parts.move();
  // A run that breaks off must not leave its clients behind.
  open.defer(load.stop);
  return {
    cluster,
    engine,
    collect,
    oracle,
    load,
    disturb: (during) => void disturbances.push(during),
    async finish(promises) {
      const gapMs = longestGapMs(oracle.attempts, { from: startedAt, to: performance.now() });
      await load.stop();
      const toCheck = { engine, oracle, settings, disturbances, collects: [collect], dir };
      return joinFindings(await checkStored(toCheck, promises), { figures: { longestGapMs: gapMs } });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export function settingsFor(natsUrl: string, nodes: 1 | 3): Settings {
  return {
    MILLRACE_ROLES: 'collect',
    MILLRACE_NATS_URL: natsUrl,
    MILLRACE_REPLICAS: String(nodes),
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_EVENT_STREAMS: String(EVENT_STREAMS),
    MILLRACE_DRAIN_MS: '0',
  };
}

export function sayProgress(run: FaultRun, oracle: Oracle, load: Load): Disposable {
  const startedAt = performance.now();
  const progress = setInterval(() => run.say(progressLine(oracle, load, startedAt)), PROGRESS_MS);
  return { [Symbol.dispose]: () => clearInterval(progress) };
}

function progressLine({ attempts, calls }: Oracle, load: Load, startedAt: number): string {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const outcomes = Object.entries(countOutcomes(attempts)).map(([outcome, count]) => `${outcome} × ${count}`);
  return `${seconds} s: ${calls.size} calls sent, answers ${outcomes.join(', ')}, ${load.waiting()} batches waiting`;
}
