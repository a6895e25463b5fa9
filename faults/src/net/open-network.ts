import type { NetHost } from '@millrace/engines';
import { removeAbandoned } from './remove-abandoned.ts';
import { askIp, runIp, runIpAtEnd } from './run-ip.ts';

/** Packets from the first host to the second one; the way back is another hop. */
export type Hop = readonly [from: string, to: string];

/** Hosts of their own on this machine, each of which reaches the others and us. */
export type Network = AsyncDisposable & {
  on(name: string): NetHost;
  /** From now on packets on these hops vanish: no error, no reset, no answer, also to new connections. */
  cut(hops: readonly Hop[]): Promise<void>;
  /** Every hop works again. */
  heal(): Promise<void>;
};

/** All networks are part of this one. */
export const NETWORKS = '10.77.0.0/16';
const PREFIX = 'millrace';
/** Our own address in each of them is the first one. */
const FIRST_HOST = 2;
/** An address that no interface has: the bridge sends the packet to all, and none of them takes it. */
const NO_HOST = '02:00:00:00:00:00';

type Place = NetHost & { mac: string };

/**
 * A namespace for each name, all on one bridge in a namespace of its own, which has a link to ours. Names hold our process id, so that a
 * later run finds those that a killed run left behind. A cut gives the sender a wrong neighbour: the packet leaves, and no host takes it.
 */
export async function openNetwork(names: readonly string[]): Promise<Network> {
  await removeAbandoned(PREFIX);
  const plan = planNetwork(names);
  const removeAtEnd = () => runIpAtEnd(removalOf(plan));
  process.once('exit', removeAtEnd);
  const on = (name: string) => hostIn(plan, name);
  const cutHops = new Map<string, Hop>();
  try {
    await build(plan);
  } catch (error) {
    removeAtEnd();
    throw error;
  }
  return {
    on,
    async cut(hops) {
      for (const hop of hops) cutHops.set(hop.join(), hop);
      await pointAll(hops, { on, isCut: true });
    },
    async heal() {
      await pointAll(cutHops.values(), { on, isCut: false });
      cutHops.clear();
    },
    async [Symbol.asyncDispose]() {
      await runIp(undefined, removalOf(plan));
      process.removeListener('exit', removeAtEnd);
    },
  };
}

type Plan = { hub: string; ours: string; subnet: number; places: ReadonlyMap<string, Place> };

function planNetwork(names: readonly string[]): Plan {
  const prefix = `${PREFIX}-${process.pid}`;
  const subnet = freeSubnet();
  const places = new Map(names.map((name, index) => [name, placeOf(`${prefix}-${name}`, subnet, index)]));
  return { hub: `${prefix}-hub`, ours: `mr${process.pid}`, subnet, places };
}

function hostIn({ places }: Plan, name: string): Place {
  const place = places.get(name);
  if (place === undefined) throw new Error(`there is no host ${name}`);
  return place;
}

function removalOf({ ours, hub, places }: Plan): string[] {
  const namespaces = [hub, ...[...places.values()].map(({ namespace }) => namespace)];
  return [`link del ${ours}`, ...namespaces.map((name) => `netns del ${name}`)];
}

function placeOf(namespace: string, subnet: number, index: number): Place {
  const host = FIRST_HOST + index;
  const mac = [0x02, 0, 10, 77, subnet, host].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
  return { namespace, address: `10.77.${subnet}.${host}`, mac };
}

/** Two runs at a time have two networks. */
function freeSubnet(): number {
  const taken = askIp('-4', '-o', 'addr', 'show');
  const wanted = Array.from({ length: 250 }, (_, step) => (process.pid + step) % 250);
  const free = wanted.find((subnet) => !taken.includes(` 10.77.${subnet}.`));
  if (free === undefined) throw new Error(`every network of ${NETWORKS} is taken`);
  return free;
}

async function build({ hub, ours, subnet, places: byName }: Plan): Promise<void> {
  const places = [...byName.values()];
  await runIp(undefined, [
    `netns add ${hub}`,
    ...places.flatMap(({ namespace, mac }, index) => [
      `netns add ${namespace}`,
      `link add eth0 netns ${namespace} address ${mac} type veth peer name port${index} netns ${hub}`,
    ]),
    `link add ${ours} type veth peer name ours netns ${hub}`,
    `addr add 10.77.${subnet}.1/24 dev ${ours}`,
    `link set ${ours} up`,
  ]);
  const ports = ['ours', ...places.map((_, index) => `port${index}`)];
  await runIp(hub, [
    'link add bridge type bridge',
    'link set bridge up',
    ...ports.map((port) => `link set ${port} master bridge up`),
  ]);
  for (const { namespace, address } of places) {
    await runIp(namespace, ['link set lo up', `addr add ${address}/24 dev eth0`, 'link set eth0 up']);
  }
}

type Pointing = { on(name: string): Place; isCut: boolean };

async function pointAll(hops: Iterable<Hop>, { on, isCut }: Pointing): Promise<void> {
  const bySender = Map.groupBy(hops, ([from]) => from);
  await Promise.all(
    [...bySender].map(([from, ways]) => {
      const lines = ways.map(([, to]) => {
        const { address, mac } = on(to);
        return `neigh replace ${address} lladdr ${isCut ? NO_HOST : mac} dev eth0 nud permanent`;
      });
      return runIp(on(from).namespace, lines);
    }),
  );
}
