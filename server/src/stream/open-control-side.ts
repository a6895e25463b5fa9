import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import type { Connect } from './nats/connect-nats.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { type DeadLetterBox, openDeadLetterBox } from './deliveries/dead-letter-box.ts';
import { forgetWorkspace, type WorkspaceNames } from './deliveries/forget-workspace.ts';
import { keepRecent } from './deliveries/keep-recent.ts';
import { openLaneCounts } from './nats/lane-counts.ts';
import { type Lanes, openLanes } from './deliveries/lanes.ts';
import type { StreamSettings } from './layout/layout.ts';
import { countEventStreams, listEventStreams } from './nats/list-streams.ts';
import { openPublisher } from './nats/publish.ts';
import { AT_ONCE } from './nats/publish-durably.ts';
import { describeStreams, type StreamFacts } from './nats/describe-streams.ts';
import { countQuarantined } from './quarantine/count-quarantined.ts';
import { openRedrive, type Redrive } from './quarantine/redrive-quarantined.ts';
import { openQuarantine, openQuarantineBox, type QuarantineBox } from './quarantine/quarantine.ts';
import { type EventReader, openEventReader } from './events/stored-events.ts';
import { type HeardPeer, hearPeers } from './signals/hear-peers.ts';
import { type HeardProcess, hearProcesses, isFirstOf, isFirstOfVersion } from './signals/hear-processes.ts';
import { openTickets, type Tickets } from './deliveries/tickets.ts';
import { purgeMarks } from './deliveries/purge-marks.ts';
import { leaveLagging } from './leaders/leave-lagging.ts';
import { keepLayout, type KeepNeeds } from './prepare/keep-layout.ts';
import { trimEvents } from './events/trim-events.ts';
import { openWaitingLine } from './nats/waiting-line.ts';

/** The parts of NATS that control works with. */
export type ControlSide = AsyncDisposable & {
  /** By the engine's clock. */
  now(): number;
  lanes: Pick<Lanes, 'append' | 'read' | 'count'>;
  tickets: Pick<Tickets, 'ensure' | 'hurry'>;
  deadLetters: DeadLetterBox;
  /** How many dead letters each destination has, as of some seconds ago; undefined while NATS does not answer. */
  letterCounts(): Promise<ReadonlyMap<string, number> | undefined>;
  /** The bytes of all dead letters together, likewise. */
  letterBytes(): Promise<number | undefined>;
  quarantine: QuarantineBox & { redrive: Redrive };
  events: EventReader;
  /** Takes everything of these sources and destinations out of NATS. */
  forget(names: WorkspaceNames): Promise<void>;
  describeStreams(): Promise<StreamFacts[]>;
  /** Of the NATS server that we are connected to. */
  serverVersion(): string | null;
  /** Deliver processes that are alive; undefined when our NATS user may not listen to them. */
  deliverProcesses(): HeardPeer[] | undefined;
  /** Processes of all roles that are alive; undefined when our NATS user may not listen to them. */
  processes(): HeardProcess[] | undefined;
  /** The sides of all cells, where there are several. Throws while one cannot be reached. */
  each?(): ControlSide[];
};

export type ControlSideNeeds = {
  connect: Connect;
  settings: StreamSettings;
  /** How many event streams there are now. */
  eventStreams(): number;
  now(): number;
  log: Logger;
  metrics: Metrics;
  /** That of the heartbeats of this process. */
  processId: string;
};

/** Its own connection: a replay that reads much must not delay collect and deliver. */
export async function openControlSide(given: ControlSideNeeds): Promise<ControlSide> {
  const { connect, settings, eventStreams, now, ...needs } = given;
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(await connect('millrace-control'));
  const manager = await jetstreamManager(connection.nc, { checkAPI: false, timeout: 5_000 });
  const publisher = opening.use(openPublisher(connection));
  const durable = { connection, publisher, line: openWaitingLine(AT_ONCE) };
  const count = settings.laneStreams;
  const counts = opening.use(await openLaneCounts({ connection, count, log: needs.log }));
  const streams = await eventStreamsOf(manager, settings, eventStreams);
  const quarantine = countQuarantined(openQuarantine({ ...durable, ...needs }), needs);
  const peers = opening.use(hearPeers(connection));
  const processes = opening.use(hearProcesses(connection));
  const isMyTurn = () => isFirstOf('control', needs.processId, processes.list());
  const isMyLayout = () => isFirstOfVersion('control', needs.processId, processes.list());
  opening.use(tendStreams({ connection, manager, settings, now, isMyTurn, isMyLayout, log: needs.log }));
  const deadLetters = openDeadLetterBox(manager, quarantine);
  const box = openQuarantineBox(manager);
  const open = opening.move();
  return {
    now,
    lanes: openLanes({ ...durable, manager, count, counts, quarantine }),
    tickets: openTickets({ ...durable, manager, now, quarantine }),
    deadLetters,
    letterCounts: keepRecent(deadLetters.counts),
    letterBytes: keepRecent(deadLetters.bytes),
    quarantine: { ...box, redrive: openRedrive(durable) },
    events: openEventReader({ manager, streams }),
    forget: (names) => forgetWorkspace(names, { manager, quarantine: box }),
    describeStreams: () => describeStreams(manager, connection),
    serverVersion: () => connection.nc.info?.version ?? null,
    deliverProcesses: peers.list,
    processes: processes.list,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Also those that an earlier setting left behind. */
async function eventStreamsOf(
  manager: JetStreamManager,
  settings: StreamSettings,
  eventStreams: () => number,
): Promise<() => number> {
  const found = await countEventStreams(manager, settings.eventStreams);
  return () => Math.max(found, eventStreams());
}

type TendNeeds = KeepNeeds & { now(): number; isMyLayout(): boolean };

/**
 * One of all control processes drops old requests, and one hands consumers over that would send too late; one of each version lets streams
 * grow with the servers, which an earlier version does not; each purges old marks.
 */
function tendStreams({ now, isMyLayout, ...needs }: TendNeeds): Disposable {
  const { connection, manager, settings, isMyTurn, log } = needs;
  const { retentionMs } = settings;
  const stack = new DisposableStack();
  stack.use(trimEvents({ manager, streams: () => listEventStreams(manager), retentionMs, isMyTurn, log }));
  stack.use(keepLayout({ ...needs, isMyTurn: isMyLayout }));
  stack.use(leaveLagging({ connection, manager, isMyTurn, log }));
  stack.use(purgeMarks({ connection, manager, now, log }));
  return stack;
}
