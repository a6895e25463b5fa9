/** A look at NATS from outside of any role, for the operator's commands: facts and no judgement. Changes nothing. */
import { headers, errors, type NatsConnection } from '@nats-io/nats-core';
import { type ConsumerInfo, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import type { StreamSettings } from '../layout/layout.ts';
import { inboxPrefix, type NatsRole, permissionsOf, streamsNeeded, userOf } from '../layout/permissions.ts';
import { describeOffset, isTooFar } from '../nats/clock-bounds.ts';
import { connectNats } from '../nats/connect-nats.ts';
import type { NatsFiles } from '../nats/nats-access.ts';
import { kindOf } from '../nats/watch-fill.ts';
import { askServers, type HeardReport, serverProblem } from '../prepare/assert-servers.ts';
import { hearProcesses, type HeardProcess } from '../signals/hear-processes.ts';

export type InspectNeeds = {
  natsUrl: string;
  natsFiles: NatsFiles;
  roles: readonly NatsRole[];
  settings: StreamSettings;
  /** How long to listen for heartbeats of processes, which come every two seconds. */
  listenMs?: number;
};

export type ServerFacts = {
  name: string;
  version: string;
  /** Why Millrace does not start with this server. */
  problem: string | undefined;
  /** How far its clock is off, in words, if it is too far. */
  clockProblem: string | undefined;
  storedBytes: number;
  maxBytes: number;
};

export type NatsFacts = {
  version: string;
  maxPayload: number;
  servers: ServerFacts[];
  /** Undefined when the user may not list streams, as collect alone. */
  streams: StreamInfo[] | undefined;
  consumers: ConsumerInfo[];
  missingStreams: string[];
  /** Subjects that these roles need and this user may not use. */
  denied: string[];
  processes: HeardProcess[];
};

const LISTEN_MS = 2_500;

export async function inspectNats({
  natsUrl,
  natsFiles,
  roles,
  settings,
  listenMs = LISTEN_MS,
}: InspectNeeds): Promise<NatsFacts> {
  const log = openLog({ level: 'silent', pretty: false });
  const user = userOf(roles);
  await using connection = await connectNats({
    url: natsUrl,
    files: natsFiles,
    inbox: inboxPrefix(user),
    name: 'millrace-inspect',
    log,
  });
  const { nc } = connection;
  using heard = hearProcesses(connection);
  const listened = new Promise((resolve) => setTimeout(resolve, listenMs));
  const [servers, denied, found] = await Promise.all([
    askServers(nc).catch(() => []),
    findDenied(nc, permissionsOf(user, settings)),
    readStreams(nc),
  ]);
  const names = new Set(found.streams?.map(({ config }) => config.name));
  const needed = [...new Set(roles.flatMap((role) => streamsNeeded(role, settings)))];
  await listened;
  return {
    version: nc.info?.version ?? '',
    maxPayload: nc.info?.max_payload ?? 0,
    servers: servers.filter(({ data }) => data?.config !== undefined).map(toServerFacts),
    ...found,
    missingStreams: found.streams === undefined ? [] : needed.filter((name) => !names.has(name)),
    denied,
    processes: heard.list() ?? [],
  };
}

function toServerFacts(report: HeardReport): ServerFacts {
  const { server, data, offset } = report;
  return {
    name: server.name,
    version: server.ver,
    problem: serverProblem(report),
    clockProblem:
      offset !== undefined && isTooFar(offset) ? describeOffset(offset, `NATS server ${server.name}`) : undefined,
    storedBytes: data?.storage ?? 0,
    maxBytes: data?.config?.max_storage ?? 0,
  };
}

async function readStreams(nc: NatsConnection): Promise<Pick<NatsFacts, 'streams' | 'consumers'>> {
  try {
    const manager = await jetstreamManager(nc, { timeout: 3_000 });
    const streams = (await Array.fromAsync(manager.streams.list())).filter(
      ({ config }) => kindOf(config.name) !== undefined,
    );
    const consumers = await Promise.all(
      streams.map(({ config }) => Array.fromAsync(manager.consumers.list(config.name)).catch(() => [])),
    );
    return { streams, consumers: consumers.flat() };
  } catch {
    return { streams: undefined, consumers: [] };
  }
}

/** Only subjects on which a message changes nothing: questions, and streams that refuse it because another stream is named. */
async function findDenied(
  nc: NatsConnection,
  { publish, subscribe }: { publish: string[]; subscribe: string[] },
): Promise<string[]> {
  const denied = new Set<string>();
  const watch = async () => {
    for await (const status of nc.status()) {
      if (status.type === 'error' && status.error instanceof errors.PermissionViolationError)
        denied.add(status.error.subject);
    }
  };
  void watch();
  const meantForNoStream = headers();
  meantForNoStream.set('Nats-Expected-Stream', 'none');
  for (const subject of publish.filter(isHarmless)) nc.publish(concrete(subject), '', { headers: meantForNoStream });
  for (const subject of subscribe) nc.subscribe(subject, { callback: () => undefined }).unsubscribe();
  // The server answers in order: after the round trip it has denied all that it will deny.
  await nc.flush();
  await nc.flush();
  const asked = new Set([...publish.filter(isHarmless).map(concrete), ...subscribe]);
  return [...denied].filter((subject) => asked.has(subject)).toSorted();
}

function isHarmless(subject: string): boolean {
  return /^\$JS\.API\.(STREAM|CONSUMER)\.INFO\.|^\$JS\.API\.(INFO|STREAM\.NAMES|STREAM\.LIST)$|^(events|lanes|dead|outcomes|quarantine)\./.test(
    subject,
  );
}

function concrete(subject: string): string {
  return subject.replaceAll(/[*>]/g, 'doctor');
}
