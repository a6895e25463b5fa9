/** NATS as the roles of these settings need it. */
import type { Config } from '@millrace/server/config';
import { inspectNats, type NatsFacts, type ServerFacts } from '@millrace/server/nats-facts';
import { bytesIn } from '../../output/steps.ts';
import { findUnknownHosts } from './check-hosts.ts';
import { type Checked, type Finding, problem, warning } from './finding.ts';

const MIN_PAYLOAD = 600_000;
const FULL = 0.8;

export async function checkNats(config: Config, listenMs?: number): Promise<Checked> {
  const { natsUrl, natsFiles, roles, stream: settings } = config;
  const unknown = await findUnknownHosts('MILLRACE_NATS_URL', natsUrl.split(','));
  try {
    const facts = await inspectNats({
      natsUrl,
      natsFiles,
      roles,
      settings,
      ...(listenMs !== undefined && { listenMs }),
    });
    const findings = [...unknown, ...judgeNats(facts, config)];
    return { part: 'nats', findings, facts: shown(facts) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const isLogin = /refuses this user|certificate|TLS/i.test(why);
    const findings = [
      ...unknown,
      problem(isLogin ? 'nats_refused' : 'nats_unreachable', {
        what: `NATS cannot be used: ${why}`,
        why: 'Every role needs NATS: without it collect answers 503 and nothing is delivered.',
        todo: isLogin
          ? 'Correct the user and password in MILLRACE_NATS_URL, or the files beside it: docs/run/nats.md.'
          : 'See that the servers run and that a firewall lets this machine through to the ports in MILLRACE_NATS_URL.',
      }),
    ];
    return { part: 'nats', findings, facts: {} };
  }
}

export function judgeNats(facts: NatsFacts, config: Pick<Config, 'stream' | 'roles'>): Finding[] {
  return [
    ...judgeServers(facts, config.stream.replicas),
    ...judgeRights(facts, config),
    ...judgeStreams(facts, config),
  ];
}

function judgeServers({ servers, maxPayload }: NatsFacts, replicas: number): Finding[] {
  if (servers.length === 0) {
    return [
      problem('nats_says_nothing', {
        what: 'The NATS servers do not say how they store.',
        why: 'Millrace refuses to start with servers of which it does not know that they sync every write.',
        todo: 'Give the account JetStream, and import $SYS.REQ.SERVER.PING.JSZ from the system account: docs/run/nats.md shows the lines.',
      }),
    ];
  }
  const findings = servers.flatMap(judgeServer);
  if (servers.length < replicas) {
    findings.push(
      problem('servers_too_few', {
        what: `MILLRACE_REPLICAS is ${replicas}, and ${servers.length} NATS servers with JetStream answer.`,
        why: 'Streams cannot be made with more replicas than there are servers, and with fewer the loss of one server stops the streams it leads.',
        todo: 'Start the missing servers, or set MILLRACE_REPLICAS=1 for a single server.',
      }),
    );
  }
  if (servers.length >= 3 && replicas === 1) {
    findings.push(
      warning('replicas_unused', {
        what: `There are ${servers.length} NATS servers, and MILLRACE_REPLICAS is 1.`,
        why: 'Each stream is on one disk only: the loss of that disk loses accepted events.',
        todo: 'Set MILLRACE_REPLICAS=3 in every process and restart control: it adds the replicas.',
      }),
    );
  }
  if (maxPayload < MIN_PAYLOAD) {
    findings.push(
      problem('payload_small', {
        what: `NATS takes at most ${maxPayload} bytes a message.`,
        why: 'A batch of calls has up to 512,000 bytes and would be refused.',
        todo: 'Set max_payload to 1MB in the configuration of every NATS server.',
      }),
    );
  }
  return findings;
}

function judgeServer({ name, problem: fault, clockProblem, storedBytes, maxBytes }: ServerFacts): Finding[] {
  const findings: Finding[] = [];
  if (fault !== undefined) {
    findings.push(
      problem('nats_server', {
        what: `NATS server ${name} ${fault}.`,
        why: 'Millrace does not start with it.',
        todo: 'Change its configuration or version as said, then reload or restart it.',
      }),
    );
  }
  if (clockProblem !== undefined) {
    findings.push(
      problem('clock_off', {
        what: `${clockProblem}.`,
        why: 'Retry times, signatures and certificates depend on the time; Millrace refuses to start.',
        todo: 'Run a time service (chrony, systemd-timesyncd) on both machines and wait until it has set the clock.',
      }),
    );
  }
  if (maxBytes > 0 && storedBytes > maxBytes * FULL) {
    findings.push(
      problem('nats_store_full', {
        what: `NATS server ${name} holds ${bytesIn(storedBytes)} of ${bytesIn(maxBytes)}.`,
        why: 'When it is full, NATS refuses new calls and collect answers 503.',
        todo: 'Raise max_file_store on a larger disk, lower MILLRACE_RETENTION, or find the destination whose backlog grows.',
      }),
    );
  }
  return findings;
}

function judgeRights({ denied }: NatsFacts, { roles }: Pick<Config, 'roles'>): Finding[] {
  if (denied.length === 0) return [];
  const some = denied.slice(0, 4).join(', ');
  return [
    problem('nats_rights_missing', {
      what: `The NATS user may not use ${denied.length} subjects that ${roles.join(', ')} need: ${some}${denied.length > 4 ? ', …' : ''}.`,
      why: 'The role starts and then fails or stays silent wherever it needs one of them.',
      todo: 'Print the users with `node server/src/print-nats-users.ts` under these settings, put them into the configuration of NATS, and reload it.',
    }),
  ];
}

function judgeStreams(
  { streams = [], missingStreams, processes }: NatsFacts,
  { stream }: Pick<Config, 'stream'>,
): Finding[] {
  const findings: Finding[] = [];
  if (missingStreams.length > 0) {
    findings.push(
      problem('streams_missing', {
        what: `These streams do not exist: ${missingStreams.join(', ')}.`,
        why: 'Collect and deliver wait for them at their start.',
        todo: 'Start a process with the role control: it makes them. If they were there before, restore a backup.',
      }),
    );
  }
  for (const each of streams) findings.push(...judgeStream(each, stream.replicas));
  const versions = [...new Set(processes.map(({ version }) => version))];
  if (versions.length > 1) {
    findings.push(
      warning('versions_mixed', {
        what: `Processes of versions ${versions.toSorted().join(' and ')} run together.`,
        why: 'That is right during an upgrade; afterwards features of the newer version wait for the older processes to go.',
        todo: 'Finish the upgrade: `millrace upgrade-check` says what is left.',
      }),
    );
  }
  return findings;
}

type Stream = NonNullable<NatsFacts['streams']>[number];

function judgeStream({ config, state, cluster }: Stream, replicas: number): Finding[] {
  const findings: Finding[] = [];
  findings.push(...judgeFill(config.name, config.max_bytes > 0 ? state.bytes / config.max_bytes : 0));
  const behind = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline);
  if (behind.length > 0 || (cluster !== undefined && cluster.leader === undefined)) {
    findings.push(
      problem('replicas_behind', {
        what: `The stream ${config.name} ${cluster?.leader === undefined ? 'has no leader' : `has replicas that are behind or away: ${behind.map(({ name }) => name).join(', ')}`}.`,
        why: 'Until they have caught up, the loss of another server stops the stream.',
        todo: 'Start the missing NATS server and look at its log; it catches up by itself.',
      }),
    );
  }
  if (config.num_replicas < replicas) {
    findings.push(
      problem('replicas_too_few', {
        what: `The stream ${config.name} has ${config.num_replicas} replica, and MILLRACE_REPLICAS is ${replicas}.`,
        why: 'The loss of one disk loses its messages.',
        todo: 'Restart control while all NATS servers run: it adds the replicas.',
      }),
    );
  }
  if (config.name === 'QUARANTINE' && state.messages > 0) {
    findings.push(
      warning('quarantined', {
        what: `${state.messages} stored things are in quarantine.`,
        why: 'No version that runs here could read them; their deliveries wait until an operator decides.',
        todo: 'Look at them on the screen System of the console, or GET /api/v1/quarantine; put them back after an upgrade.',
      }),
    );
  }
  return findings;
}

function judgeFill(name: string, fill: number): Finding[] {
  if (fill <= FULL) return [];
  return [
    problem('stream_full', {
      what: `The stream ${name} is ${Math.round(fill * 100)} % full.`,
      why: 'A full stream refuses what is new: calls for EVENTS, retries for LANES, letters for DEAD.',
      todo: 'See docs/run/capacity.md: more storage, a shorter MILLRACE_RETENTION, or a receiver that works again.',
    }),
  ];
}

function shown({ version, servers, streams, consumers, processes }: NatsFacts): Record<string, unknown> {
  return {
    version,
    servers,
    streams: streams?.map(({ config, state }) => ({
      name: config.name,
      replicas: config.num_replicas,
      messages: state.messages,
      bytes: state.bytes,
      maxBytes: config.max_bytes,
    })),
    consumers: consumers.map(({ stream_name, name, num_pending, num_ack_pending, num_redelivered }) => ({
      stream: stream_name,
      name,
      pending: num_pending,
      unacknowledged: num_ack_pending,
      redelivered: num_redelivered,
    })),
    processes,
  };
}
