import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { type CutHosts, OTHER_HOSTS } from './draw-cut.ts';
import { type Network, openNetwork } from './open-network.ts';

/** A whole installation, each server and each role of it on a host of its own. Clients and oracle are with us, and reach all of them. */
export type PartitionScene = AsyncDisposable & {
  whole: RecorderScene;
  network: Network;
  hosts: CutHosts;
};

const SERVERS = ['n1', 'n2', 'n3'] as const;

export async function openPartitionScene(run: FaultRun): Promise<PartitionScene> {
  await using parts = new AsyncDisposableStack();
  const hosts: CutHosts = { servers: SERVERS, delivers: run.isFull ? ['deliver1', 'deliver2'] : ['deliver'] };
  const { collect, control, database, receivers } = OTHER_HOSTS;
  const names = [...hosts.servers, ...hosts.delivers, ...Object.values(OTHER_HOSTS)];
  const network = parts.use(await openNetwork(names));
  const whole = parts.use(
    await openRecorderScene(run, {
      nodes: 3,
      roles: ['collect', ...hosts.delivers.map(() => 'deliver' as const)],
      hosts: {
        nats: hosts.servers.map(network.on),
        processes: [collect, ...hosts.delivers].map(network.on),
        receivers: network.on(receivers),
        control: network.on(control),
        database: network.on(database),
      },
    }),
  );
  const open = parts.move();
  return { whole, network, hosts, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
