import { freePorts, startNatsCluster } from '@millrace/engines';
import { join } from 'node:path';
import type { Verdict } from '../run.ts';
import { batchTemplate, driveLoad, singleTemplate } from './load.ts';
import { compare, type Comparison, type Contender } from './compare.ts';
import { type BenchServer, startOurs, startTwin } from './servers.ts';

const GOAL = 1.25;

type Scenario = { name: string; template: string; callsPerRequest: number };

const SCENARIOS: Scenario[] = [
  { name: 'batch of 20 calls', template: batchTemplate(), callsPerRequest: 20 },
  { name: 'one call', template: singleTemplate(), callsPerRequest: 1 },
];

/**
 * CPU of collect per call against a bare twin that runs beside it at the same time on the same core; the load generator
 * and NATS have the other one. Both do the same durable work. Wall time on a shared machine says little; CPU says enough.
 */
export async function benchCollect({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const figures: Record<string, unknown> = { bench: 'collect', goal: GOAL };
  let isGood = true;
  for (const scenario of SCENARIOS) {
    const shape = scenario.callsPerRequest === 1 ? 'track' : 'batch';
    const against: Record<string, Comparison> = {};
    for (const [name, first, second] of [
      ['twin against itself', 'mux', 'mux'],
      ['collect against twin', 'ours', 'mux'],
      ['collect against twin with js.publish', 'ours', 'js'],
    ] as const) {
      const comparison = await compareTwo({ scenario, shape, first, second, isQuick });
      console.log(`${scenario.name}, ${name}: ${JSON.stringify(comparison)}`);
      against[name] = comparison;
    }
    figures[scenario.name] = against;
    if (shape === 'batch' && (against['collect against twin']?.ratio ?? Infinity) > GOAL) isGood = false;
  }
  return { isGood, figures };
}

type Pair = { scenario: Scenario; shape: string; first: Kind; second: Kind; isQuick: boolean };
type Kind = 'ours' | 'mux' | 'js';

async function compareTwo({ scenario, shape, first, second, isQuick }: Pair): Promise<Comparison> {
  const contender = (kind: Kind): Contender => ({
    callsPerRequest: scenario.callsPerRequest,
    async open() {
      // Each contender has NATS servers of its own, so that one's backlog is not the other's.
      const stack = new AsyncDisposableStack();
      const cluster = stack.use(await startNatsCluster({ maxFileStoreMb: 20_000 }));
      const [port = 0] = await freePorts(1);
      const start = kind === 'ours' ? startOurs : startTwin(kind);
      const server: BenchServer = stack.use(await start(cluster.url, port));
      const path = kind === 'ours' ? `/v1/${shape}` : '/';
      return {
        pid: server.pid,
        natsPid: cluster.nodes[0]?.pid() ?? 0,
        drive: (seconds, run) =>
          driveLoad({
            url: `http://127.0.0.1:${port}${path}`,
            template: scenario.template,
            scriptFile: join(cluster.dir, 'load.lua'),
            seconds,
            run,
          }),
        storedMessages: server.storedMessages,
        [Symbol.asyncDispose]: () => stack.disposeAsync(),
      };
    },
  });
  return compare(contender(first), contender(second), {
    launches: isQuick ? 2 : 4,
    slices: 3,
    seconds: isQuick ? 1 : 3,
  });
}
