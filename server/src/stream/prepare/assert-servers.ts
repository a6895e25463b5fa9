import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Bounds, boundsOf, describeOffset, hostOffset, isTooFar } from '../nats/clock-bounds.ts';
import { SERVERS_SUBJECT } from '../layout/layout.ts';
import type { ServerStore } from '../layout/level-streams.ts';

/** One server's answer to a ping for its JetStream state. */
type ServerReport = {
  server: { name: string; ver: string; time?: string; cluster?: string };
  data?: {
    config?: { max_storage: number; sync_always?: boolean };
    storage?: number;
    reserved_storage?: number;
    meta_cluster?: { leader?: string };
  };
};

/** With how far this host's clock is ahead of the server's; undefined for a server that does not say its time. */
export type HeardReport = ServerReport & { offset?: Bounds | undefined };

const PATIENCE_MS = 10_000;
const REFUSED_PAUSE_MS = 250;

/** Our largest message: a batch and its envelope. */
const MIN_PAYLOAD_BYTES = 600_000;

export type ServersWanted = {
  replicas: number;
  /** The streams exist already: then a majority is enough to work, and one server may be away. */
  isThere: boolean;
};
/** `isComplete`: there are at least as many as a stream has replicas. */
export type ServersFound = { stores: ServerStore[]; isComplete: boolean };

/**
 * Checks the promises that only the servers themselves can keep: every write synced before it is acknowledged, a version that is new
 * enough, clocks that agree with ours, and enough servers for the replicas. Also learns how much they can store.
 */
export async function assertServers(nc: NatsConnection, { replicas, isThere }: ServersWanted): Promise<ServersFound> {
  const needed = isThere ? Math.floor(replicas / 2) + 1 : replicas;
  const reports = await collectReports(nc, needed);
  const withJetStream = ourServers(reports, nc);
  if (withJetStream.length === 0) throw new Error(HOW_TO_ALLOW_THE_QUESTION);
  for (const report of withJetStream) {
    const problem = serverProblem(report);
    if (problem !== undefined) throw new Error(`NATS server ${report.server.name} ${problem}`);
    const { offset } = report;
    if (offset !== undefined && isTooFar(offset)) {
      throw new Error(describeOffset(offset, `NATS server ${report.server.name}`));
    }
  }
  if (withJetStream.length < needed) {
    throw new Error(
      `MILLRACE_REPLICAS is ${replicas}, but only ${withJetStream.length} NATS servers with JetStream answer`,
    );
  }
  if ((nc.info?.max_payload ?? 0) < MIN_PAYLOAD_BYTES) {
    throw new Error(
      `the NATS servers take at most ${nc.info?.max_payload} bytes a message: set max_payload to 1MB or more`,
    );
  }
  const isComplete = withJetStream.length >= replicas;
  return { isComplete, stores: storesOf(withJetStream, nc) };
}

/**
 * The servers of our cluster with JetStream. NATS places no stream of ours in another cluster, whose servers may answer through gateways.
 * Through a leaf node we are connected to a cluster without JetStream: then all that have it are ours.
 */
export function ourServers<Report extends ServerReport>(
  reports: readonly Report[],
  { info }: Pick<NatsConnection, 'info'>,
): Report[] {
  const withJetStream = reports.filter(({ data }) => data?.config !== undefined);
  const ours = withJetStream.filter(({ server }) => info?.cluster === undefined || server.cluster === info.cluster);
  return ours.length === 0 ? withJetStream : ours;
}

/** How much each of our servers may store. */
export function storesOf(reports: readonly ServerReport[], nc: Pick<NatsConnection, 'info'>): ServerStore[] {
  return ourServers(reports, nc).map(({ server, data }) => ({
    name: server.name,
    bytes: data?.config?.max_storage ?? 0,
  }));
}

export function serverProblem({ server, data }: ServerReport): string | undefined {
  const [major = 0, minor = 0] = server.ver.split('.').map(Number);
  if (major < 2 || (major === 2 && minor < 15)) return `is version ${server.ver}; 2.15 or newer is needed`;
  if (data?.config?.sync_always !== true) {
    return 'syncs its files only every few minutes and would lose acknowledged calls in a power cut: set `sync_interval: always` in its jetstream block';
  }
  return undefined;
}

const HOW_TO_ALLOW_THE_QUESTION =
  'the NATS servers do not say how they store: the account of MILLRACE_NATS_URL needs JetStream, and an import of the ' +
  `service ${SERVERS_SUBJECT} from the system account (docs/run/nats.md shows the lines of the server's configuration)`;

/** Right after a start some servers may not have found each other yet, so the question is repeated for a while. */
async function collectReports(nc: NatsConnection, expected: number): Promise<HeardReport[]> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let reports: HeardReport[] = [];
  while (ourServers(reports, nc).length < expected && performance.now() < giveUpAt) {
    const heard = await askServers(nc).catch(() => undefined);
    reports = heard ?? [];
    if (heard !== undefined) continue;
    // The only server answers that our account may not ask. One that says nothing is busy.
    if (expected === 1) break;
    // A refusal comes at once.
    await sleep(REFUSED_PAUSE_MS);
  }
  return reports;
}

/** Asks every server of the cluster once; fails when the account may not ask. */
export async function askServers(nc: NatsConnection): Promise<HeardReport[]> {
  const reports = new Map<string, HeardReport>();
  const sentAt = performance.now();
  for await (const answer of await nc.requestMany(SERVERS_SUBJECT, '', {
    maxWait: 500,
    stall: 250,
    strategy: 'stall',
  })) {
    if (answer.data.length === 0) continue;
    const report: ServerReport = answer.json();
    reports.set(report.server.name, { ...report, offset: offsetFrom(report, sentAt) });
  }
  return [...reports.values()];
}

function offsetFrom({ server: { time } }: ServerReport, sentAt: number): Bounds | undefined {
  const engineAt = Date.parse(time ?? '');
  const arrivedAt = performance.now();
  return Number.isNaN(engineAt)
    ? undefined
    : hostOffset(boundsOf({ engineAt, sentAt, arrivedAt }), Date.now() - arrivedAt);
}
