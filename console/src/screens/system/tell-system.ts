/** How the installation is doing, as one sentence with the worst trouble first. Pure. */
import type { System } from '@millrace/contract/control';
import { counted, percent } from '../../format/numbers.ts';
import type { StateName } from '../../parts/state-mark.tsx';

export const FULL = 0.8;

export type Told = { state: StateName; words: string; rest: string; lanes: string };

export function tellSystem({ nats, postgres, deliverProcesses, versions, lanes }: System): Told {
  const troubles = [
    ...(nats.isReachable ? [] : ['NATS does not answer control.']),
    ...(postgres.isReachable ? [] : ['PostgreSQL does not answer.']),
    ...(deliverProcesses?.length === 0 ? ['No deliver process is alive: nothing is delivered.'] : []),
    ...storageTroubles([...(nats.streams ?? []), ...(nats.buckets ?? [])]),
    ...versionTroubles(versions.millrace, deliverProcesses ?? []),
  ];
  const waiting = `${counted(lanes.inUse, 'destination has', 'destinations have')} deliveries that wait, ${counted(lanes.deliveries, 'delivery', 'deliveries')} in all.`;
  const [first, ...others] = troubles;
  if (first === undefined) {
    const processes =
      deliverProcesses === null
        ? 'NATS and PostgreSQL'
        : `NATS, PostgreSQL and ${counted(deliverProcesses.length, 'deliver process', 'deliver processes')}`;
    return { state: 'delivered', words: 'All is well.', rest: `${processes} answer.`, lanes: waiting };
  }
  return { state: 'givenup', words: first, rest: others.join(' '), lanes: waiting };
}

type Stored = NonNullable<System['nats']['streams']>[number];

function storageTroubles(stored: readonly Stored[]): string[] {
  const full = stored.filter(({ fill }) => (fill ?? 0) >= FULL);
  const leaderless = stored.filter(({ leader }) => leader === null);
  const lagging = stored.filter(({ laggingReplicas }) => laggingReplicas > 0);
  return [
    ...full.map(({ name, fill }) => `${name} is ${percent(fill ?? 0)} % full.`),
    ...(leaderless.length === 0 ? [] : [`${leaderless.map(({ name }) => name).join(', ')}: no leader now.`]),
    ...(lagging.length === 0 ? [] : [`${counted(lagging.length, 'stream has', 'streams have')} replicas that lag.`]),
  ];
}

function versionTroubles(own: string, processes: NonNullable<System['deliverProcesses']>): string[] {
  const others = new Set(
    processes.map(({ version }) => version).filter((version) => version !== null && version !== own),
  );
  return others.size === 0
    ? []
    : [`Control is ${own}, and deliver runs ${[...others].join(', ')}: finish the upgrade.`];
}
