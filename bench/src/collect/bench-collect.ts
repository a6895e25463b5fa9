import { checkOutVersion, freePorts, startNatsCluster } from '@millrace/engines';
import { join } from 'node:path';
import type { BenchOptions, Verdict } from '../run.ts';
import { batchTemplate, driveLoad, singleTemplate } from './load.ts';
import { compare, type Comparison, type Contender } from './compare.ts';
import { type Start, startCollect, startTwin } from './servers.ts';

const GOAL = 1.25;
/** How much dearer than another version of itself it may be. */
const GOAL_BESIDE = 1.03;

type Scenario = { name: string; template: string; callsPerRequest: number };

const SCENARIOS: Scenario[] = [
  { name: 'batch of 20 calls', template: batchTemplate(), callsPerRequest: 20 },
  { name: 'one call', template: singleTemplate(), callsPerRequest: 1 },
];

/**
 * CPU of collect per call against a bare twin that runs beside it at the same time on the same core; the load generator
 * and NATS have the other one. Both do the same durable work. Wall time on a shared machine says little; CPU says enough.
 */
export async function benchCollect({ isQuick, beside }: BenchOptions): Promise<Verdict> {
  if (beside !== undefined) return benchBeside(beside, isQuick);
  const figures: Record<string, unknown> = { bench: 'collect', goal: GOAL };
  let isGood = true;
  for (const scenario of SCENARIOS) {
    const against: Record<string, Comparison> = {};
    const path = pathOf(scenario);
    const [ours, mux, js] = [
      { start: startCollect(), path },
      { start: startTwin('mux'), path: '/' },
      { start: startTwin('js'), path: '/' },
    ];
    for (const [name, first, second] of [
      ['twin against itself', mux, mux],
      ['collect against twin', ours, mux],
      ['collect against twin with js.publish', ours, js],
    ] as const) {
      const comparison = await compareTwo({ scenario, first, second, isQuick });
      console.log(`${scenario.name}, ${name}: ${JSON.stringify(comparison)}`);
      against[name] = comparison;
    }
    figures[scenario.name] = against;
    if (path === '/v1/batch' && (against['collect against twin']?.ratio ?? Infinity) > GOAL) isGood = false;
  }
  return { isGood, figures };
}

/** This version against another one, which runs beside it in the same way. */
async function benchBeside(revision: string, isQuick: boolean): Promise<Verdict> {
  using other = await checkOutVersion(revision);
  const figures: Record<string, unknown> = { bench: 'collect', beside: revision, goal: GOAL_BESIDE };
  let isGood = true;
  for (const scenario of SCENARIOS) {
    const path = pathOf(scenario);
    const first = { start: startCollect(), path };
    const comparison = await compareTwo({
      scenario,
      first,
      second: { start: startCollect(other.serverMain), path },
      isQuick,
    });
    console.log(`${scenario.name}: ${JSON.stringify(comparison)}`);
    figures[scenario.name] = comparison;
    if (comparison.ratio > GOAL_BESIDE) isGood = false;
  }
  return { isGood, figures };
}

function pathOf({ callsPerRequest }: Scenario): string {
  return callsPerRequest === 1 ? '/v1/track' : '/v1/batch';
}

type Kind = { start: Start; path: string };
type Pair = { scenario: Scenario; first: Kind; second: Kind; isQuick: boolean };

async function compareTwo({ scenario, first, second, isQuick }: Pair): Promise<Comparison> {
  const contender = ({ start, path }: Kind): Contender => ({
    callsPerRequest: scenario.callsPerRequest,
    async open() {
      // Each contender has NATS servers of its own, so that one's backlog is not the other's.
      const stack = new AsyncDisposableStack();
      const cluster = stack.use(await startNatsCluster({ maxFileStoreMb: 20_000 }));
      const [port = 0] = await freePorts(1);
      const server = stack.use(await start(cluster.url, port));
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
