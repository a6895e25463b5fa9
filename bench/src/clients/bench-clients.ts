import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import type { Verdict } from '../run.ts';
import { compareClients, type Kind, type Plan } from './compare-clients.ts';

const GOALS = { toTwin: 2, toSegment: 0.5 };

const PAIRS: Record<string, [Kind, Kind]> = {
  'twin against itself': ['twin', 'twin'],
  'ours against the twin': ['ours', 'twin'],
  'ours without gzip against the twin': ['plain', 'twin'],
  'ours against @segment/analytics-node 3.1.0': ['ours', 'segment'],
};

/**
 * CPU of a `track()` call, everything included up to the socket: two clients at the same time on one core, the receiver on
 * the other one. The caller's own time, which is queueing without sending, is stated apart.
 */
export async function benchClients({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  spawnSync(process.execPath, ['build.ts'], { cwd: join(ROOT_DIR, 'clients/node'), stdio: 'inherit' });
  const plan: Plan = isQuick
    ? { launches: 1, slices: 3, warmUp: 500, requests: 500 }
    : { launches: 3, slices: 3, warmUp: 2_000, requests: 1_000 };
  const figures: Record<string, Awaited<ReturnType<typeof compareClients>>> = {};
  for (const [name, [first, second]] of Object.entries(PAIRS)) {
    const compared = await compareClients(first, second, plan);
    figures[name] = compared;
    console.log(`${name}: ${compared.ratio} (${compared.min} to ${compared.max})`);
  }
  const toTwin = figures['ours against the twin']?.ratio ?? Number.NaN;
  const toSegment = figures['ours against @segment/analytics-node 3.1.0']?.ratio ?? Number.NaN;
  return { isGood: toTwin <= GOALS.toTwin && toSegment <= GOALS.toSegment, figures: { node: figures, goals: GOALS } };
}
