import type { Span } from '../measure-attempts.ts';
import type { FaultRun } from '../run-fault.ts';
import type { Load } from '../start-load.ts';
import { spend } from '../wait-until.ts';
import { type DeliverScene, type DeliverSceneShape, openDeliverScene } from './open-deliver-scene.ts';
import { destinationIds, joinPlans, type Plan, planWorkspaces } from './plan-workspaces.ts';
import type { Behaviour } from './receiver-process.ts';
import { type Healthy, watchHealthy } from './watch-healthy.ts';

export type CrowdShape = Pick<DeliverSceneShape, 'retryScale' | 'roles'> & {
  /** How many receivers are in trouble, and which. */
  troubled: number;
  behaviour: Behaviour;
};

/** Very many receivers in trouble, and a few that are not. */
export type Crowd = AsyncDisposable & {
  scene: DeliverScene;
  healthy: Healthy;
  /** For the healthy ones, all the time. */
  load: Load;
  /** When only they had anything to do. */
  quiet: Span;
  /** Sends this many events to each receiver in trouble. */
  stir(eventsEach: number): Promise<Span>;
};

const FAN_OUT = 100;
const STIR_BATCHES_PER_SECOND = 10;
const HEALTHY_BATCHES_PER_SECOND = 20;
const HEALTHY_PER_BATCH = 5;
const WARM_UP_MS = 2_000;

export async function openCrowd(run: FaultRun, { troubled, behaviour, ...shape }: CrowdShape): Promise<Crowd> {
  const { well, bad } = planCrowd(troubled);
  const plan = joinPlans(well, bad);
  const isKept = ({ destinationId }: { destinationId: string }) => destinationId.startsWith('dst_well');
  // With one server each message is a sync of the disk of its own; three, as in production, gather them.
  const nodes = run.isFull ? 3 : 1;
  const scene = await openDeliverScene(run, { ...shape, nodes, plan, behaviour: { status: 200 }, isKept });
  const ids = destinationIds(bad);
  await scene.receivers.behave(ids, behaviour);
  const sizes = [HEALTHY_PER_BATCH, HEALTHY_PER_BATCH] as const;
  const load = scene.load({ senders: well.sources, batchesPerSecond: HEALTHY_BATCHES_PER_SECOND, sizes });
  await spend(WARM_UP_MS);
  const quiet = await spend(run.isFull ? 15_000 : 3_000);
  return {
    scene,
    healthy: watchHealthy(scene, well.destinations),
    load,
    quiet,
    async stir(eventsEach) {
      const batchesPerSecond = STIR_BATCHES_PER_SECOND;
      const stirring = { prefix: 'stir', senders: bad.sources, batchesPerSecond, sizes: [1, 1], inTurn: true } as const;
      const stirrer = scene.load(stirring);
      const span = await spend(((eventsEach * bad.sources.length) / batchesPerSecond) * 1_000);
      await stirrer.stop();
      return span;
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

/** An event for a source in trouble goes to a hundred receivers at once: few calls make many lanes. */
function planCrowd(troubled: number): { well: Plan; bad: Plan } {
  const sources = troubled / FAN_OUT;
  const workspaces = Math.min(sources, 10);
  const shape = { workspaces, sourcesEach: sources / workspaces, destinationsPerSource: FAN_OUT };
  return {
    well: planWorkspaces({ name: 'well', workspaces: 10, sourcesEach: 2, destinationsPerSource: 1 }),
    bad: planWorkspaces({ name: 'bad', ...shape }),
  };
}
