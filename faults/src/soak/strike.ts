import { setTimeout as sleep } from 'node:timers/promises';
import type { Strike } from '../deliver/judge-deliveries.ts';
import type { RecorderScene } from '../deliver/open-recorder-scene.ts';
import { viewEngine } from '../engine-view.ts';
import { countInFlight } from '../inject/kill-deliver.ts';
import type { Random } from '../seeded-random.ts';
import { waitUntil } from '../wait-until.ts';

const HEALED_WITHIN_MS = 120_000;
/** Processes learn of a new leader, and requests in the sockets of a dead process arrive, a little later. */
const AFTERMATH_MS = 2_000;
const LOOK_MS = 500;

type Trouble = (whole: RecorderScene, random: Random) => Promise<void>;

/** The processes that {@link STAYING} names are never killed here; all may stand still. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  async 'kill of a deliver process'({ scene }, random) {
    const [victim] = scene.delivers;
    await victim?.kill('SIGKILL');
    await sleep(random.between(0, 5_000));
    await victim?.start();
  },
  async 'deliver leaves and comes back'({ scene }, random) {
    const [victim] = scene.delivers;
    await victim?.kill('SIGTERM');
    await sleep(random.between(0, 5_000));
    await victim?.start();
  },
  async 'kill of a process that records'({ second }, random) {
    await second?.kill('SIGKILL');
    await sleep(random.between(0, 10_000));
    await second?.start();
  },
  async 'kill of a NATS server'({ scene }, random) {
    const victim = random.pick(someOf(scene.cluster.nodes));
    await victim.kill('SIGKILL');
    await sleep(random.between(500, 10_000));
    await victim.start();
  },
  async 'a NATS server stands still'({ scene }, random) {
    const victim = random.pick(someOf(scene.cluster.nodes));
    await victim.kill('SIGSTOP');
    await sleep(random.between(500, 10_000));
    await victim.kill('SIGCONT');
  },
  async 'a leader moves'(whole, random) {
    const engine = viewOf(whole);
    const leaders = await engine.leaders();
    const stream = random.pick(someOf([...leaders.keys()]));
    const others = whole.scene.cluster.nodes.filter((node) => node !== leaders.get(stream));
    await engine.moveLeader(stream, random.pick(someOf(others)));
  },
  async 'PostgreSQL dies'({ database }, random) {
    await database.stop();
    await sleep(random.between(0, 15_000));
    await database.start();
  },
  async 'collect stands still'({ scene: { collect } }, random) {
    collect.suspend();
    await sleep(random.between(500, 4_000));
    collect.resume();
  },
  async 'control stands still'({ control }, random) {
    control.suspend();
    await sleep(random.between(500, 15_000));
    control.resume();
  },
  async 'a receiver hangs'({ scene }, random) {
    const victim = random.pick(someOf(scene.plan.destinations));
    await scene.receivers.behave([victim.id], { status: 'hang' });
    await sleep(random.between(5_000, 20_000));
    await scene.receivers.behave([victim.id], { status: 200 });
  },
  async 'a receiver answers 503'({ scene }, random) {
    const victim = random.pick(someOf(scene.plan.destinations));
    await scene.receivers.behave([victim.id], { status: 503 });
    await sleep(random.between(5_000, 20_000));
    await scene.receivers.behave([victim.id], { status: 200 });
  },
};

/** Makes one trouble, by the dice, and resolves when its aftermath is over. */
export async function strikeOnce(whole: RecorderScene, random: Random): Promise<Strike> {
  const [what, trouble] = random.pick(someOf(Object.entries(TROUBLES)));
  const { scene } = whole;
  const from = performance.now();
  const watch = watchInFlight(scene);
  try {
    await trouble(whole, random);
    await waitUntil('streams and consumers have leaders', HEALED_WITHIN_MS, async () => {
      return (await scene.engine.leftovers()).isWhole && (await viewOf(whole).leaders()).size === namesOf(whole).length;
    });
    await sleep(AFTERMATH_MS);
  } finally {
    await watch.stop();
  }
  return { what, from, until: performance.now(), inFlight: watch.most() };
}

/** The most deliveries that were under way at one look. */
function watchInFlight(scene: RecorderScene['scene']) {
  const state = { most: 0, isOver: false };
  const look = async () => {
    state.most = Math.max(state.most, await countInFlight(scene, performance.now()));
  };
  const watching = (async () => {
    while (!state.isOver) {
      await look();
      await sleep(LOOK_MS);
    }
    await look();
  })();
  return {
    most: () => state.most,
    async stop() {
      state.isOver = true;
      await watching;
    },
  };
}

function viewOf(whole: RecorderScene) {
  return viewEngine(whole.scene.cluster, namesOf(whole));
}

function namesOf({ events, outcomes }: RecorderScene): string[] {
  return [...events, ...outcomes];
}

function someOf<T>([first, ...others]: readonly T[]): [T, ...T[]] {
  if (first === undefined) throw new Error('there is nothing to choose from');
  return [first, ...others];
}
