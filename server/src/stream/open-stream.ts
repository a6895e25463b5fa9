import type { Logger } from '../log.ts';
import { type Metrics, openMetrics } from '../metrics/open-metrics.ts';
import type { EntrySigner } from '../secrets/sign-entry.ts';
import { appendRequest, type Appended, type RequestToAppend } from './events/append-request.ts';
import {
  CONFIG_ROLES,
  type ConfigRole,
  type ConfigTrust,
  type ConfigView,
  openConfigView,
} from './config/config-bucket.ts';
import { openConfigWriter, type ConfigWriter } from './config/config-writer.ts';
import { type Connect, type Connection, connectNats } from './nats/connect-nats.ts';
import { type EngineClock, openEngineClock } from './nats/engine-clock.ts';
import { type ComputeSide, openComputeSide } from './open-compute-side.ts';
import { type ControlSide, openControlSide } from './open-control-side.ts';
import { type DeliverySide, openDeliverySide } from './open-delivery-side.ts';
import { type EventStreams, openEventStreams } from './events/event-streams.ts';
import type { StreamSettings } from './layout/layout.ts';
import { leavingCutOff } from './leaders/leave-cut-off.ts';
import type { NatsFiles } from './nats/nats-access.ts';
import { openRecordSide, type RecordSide } from './open-record-side.ts';
import { inboxPrefix, NATS_ROLES, type NatsRole, userOf } from './layout/permissions.ts';
import { followEventCount } from './prepare/event-count.ts';
import { prepareLayout } from './prepare/prepare-layout.ts';
import { probeStreams } from './events/probe-streams.ts';
import { openPublisher, type Publisher } from './nats/publish.ts';
import { AT_ONCE } from './nats/publish-durably.ts';
import { openQuarantine } from './quarantine/quarantine.ts';
import { openWaitingLine } from './nats/waiting-line.ts';
import { countQuarantined } from './quarantine/count-quarantined.ts';
import { type AnswerNeeds, type Answering, answerAsks, type Asks, openAsks } from './signals/asks.ts';
import { tellComputed } from './signals/computed.ts';
import { onRefused, type RefusedCalls, tellRefused } from './signals/refusals.ts';
import { onSeen, type Sighting, tellSeen } from './signals/sightings.ts';
import { tellAlive } from './signals/tell-alive.ts';
import { openTails, type Tails } from './signals/tail-listener.ts';
import { openTailWriter, type TailWriter } from './signals/tail-writer.ts';

export type Stream = AsyncDisposable & {
  /** Milliseconds since 1970 by the engine's clock, which is the same for all processes. */
  now: EngineClock['now'];
  append(request: RequestToAppend): Promise<Appended>;
  /** Whether an append would be tried now. */
  isAvailable(): boolean;
  isConnected(): boolean;
  /** Without a signer, entries are refused by every process that has the key ring. */
  configWriter(signer?: EntrySigner): Promise<ConfigWriter>;
  /** Without trust, every entry is used: collect has no key ring. Only what these roles need is read; by default both. */
  configView(trust?: ConfigTrust, roles?: readonly ConfigRole[]): Promise<ConfigView>;
  deliverySide(): Promise<DeliverySide>;
  recordSide(): Promise<RecordSide>;
  controlSide(): Promise<ControlSide>;
  computeSide(): Promise<ComputeSide>;
  /** Definitions have changed: compute processes look at once. */
  tellDefinitionsChanged(): void;
  tellSeen(sighting: Sighting): void;
  onSeen(seen: (sighting: Sighting) => void): Disposable;
  tellRefused(refused: RefusedCalls): void;
  onRefused(told: (refused: RefusedCalls) => void): Disposable;
  /** One for the process: its rate is bounded. */
  tailWriter(): TailWriter & Disposable;
  tails(): Tails & Disposable;
  /** How control asks deliver. */
  asks(signer: EntrySigner): Asks & Disposable;
  /** How deliver answers. */
  onAsk(signer: EntrySigner, answer: AnswerNeeds['answer']): Answering;
};

export type StreamNeeds = {
  natsUrl: string;
  natsFiles?: NatsFiles;
  /** Which this process plays: they decide its NATS user and whether it makes and changes streams. By default all. */
  roles?: readonly NatsRole[];
  settings: StreamSettings;
  log: Logger;
  metrics?: Metrics;
  /** Of this process, for others to hear. */
  version?: string;
  /** The id of its heartbeats, which a process with several cells has in each of them. */
  processId?: string;
};

/** Connects to NATS: everything in the layout exists and keeps its promises, or this throws and names the one that does not. */
export async function openStream(needs: StreamNeeds): Promise<Stream> {
  const { natsUrl, natsFiles = {}, roles = NATS_ROLES, settings, log, version = '', metrics = openMetrics() } = needs;
  const to = { url: natsUrl, files: natsFiles, inbox: inboxPrefix(userOf(roles)), log, metrics };
  const connect: Connect = async (name) => leavingCutOff(await connectNats({ ...to, name }));
  await using opening = new AsyncDisposableStack();
  const publishing = opening.use(await connect('millrace-publish'));
  const watching = opening.use(await connect('millrace-watch'));
  await prepareLayout(watching, { roles, settings, log });
  const { now } = opening.use(await openEngineClock({ connection: watching, metrics, log }));
  const about = { roles, version, startedAt: Math.round(now()), id: needs.processId };
  const processId = version === '' ? '' : opening.use(tellAlive(watching, about)).id;
  const publisher = opening.use(openPublisher(publishing));
  const following = { connection: watching, asked: settings.eventStreams, log };
  const { streams: count } = opening.use(await followEventCount(following));
  const events = opening.use(openEventStreams({ connection: publishing, publisher, count, metrics, log }));
  opening.use(probeStreams({ connection: publishing, events, log }));
  const isConnected = () => publishing.isConnected() && watching.isConnected();
  showState(metrics, isConnected, events);
  const writing = writingWith({ publishing, publisher, connect }, { metrics, log });
  const open = opening.move();
  return {
    now,
    append: (request) => appendRequest(request, { connection: publishing, events, log }),
    isAvailable: () => publishing.isConnected() && events.streams.some((stream) => stream.trouble === undefined),
    isConnected,
    configWriter: async (signer) => openConfigWriter({ ...writing, signer }),
    configView: (trust, roles = CONFIG_ROLES) => openConfigView({ connection: watching, roles, trust, metrics, log }),
    deliverySide: () => openDeliverySide({ connect, settings, now, log, metrics, version }),
    recordSide: () => openRecordSide({ connect, settings, now, log, metrics }),
    controlSide: () => openControlSide({ connect, settings, eventStreams: count, now, log, metrics, processId }),
    computeSide: () => openComputeSide({ connect, now, log }),
    tailWriter: () => openTailWriter(watching),
    tails: () => openTails(watching),
    ...tellingOver(watching),
    ...askingOver(watching, { now, log }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Telling = Pick<Stream, 'tellSeen' | 'onSeen' | 'tellRefused' | 'onRefused' | 'tellDefinitionsChanged'>;

function tellingOver(connection: Connection): Telling {
  return {
    tellSeen: (sighting) => tellSeen(connection, sighting),
    onSeen: (seen) => onSeen(connection, seen),
    tellRefused: (refused) => tellRefused(connection, refused),
    onRefused: (told) => onRefused(connection, told),
    tellDefinitionsChanged: () => tellComputed(connection, 'definitions'),
  };
}

/** Questions are signed like config entries, under a key that no entry has. */
const ASK_KEY = 'ask';

function askingOver(connection: Connection, needs: { now(): number; log: Logger }): Pick<Stream, 'asks' | 'onAsk'> {
  return {
    asks: (signer) => openAsks({ connection, sign: (text) => signer.sign(ASK_KEY, text), ...needs }),
    onAsk(signer, answer) {
      const isAuthentic = (text: string) => signer.check({ key: ASK_KEY, text, isDeletion: false }) === 'authentic';
      return answerAsks({ connection, isAuthentic, answer, ...needs });
    },
  };
}

function showState(metrics: Metrics, isConnected: () => boolean, events: Pick<EventStreams, 'streams'>): void {
  const inTrouble = () => events.streams.filter((stream) => stream.trouble !== undefined).length;
  metrics.gauge('millrace_nats_connected', () => Number(isConnected()));
  metrics.gauge('millrace_event_streams_in_trouble', inTrouble);
}

type Writing = { publishing: Connection; publisher: Publisher; connect: Connect };

/** The connections of the config writer. */
function writingWith({ publishing, publisher, connect }: Writing, telling: { metrics: Metrics; log: Logger }) {
  const durable = { connection: publishing, publisher, line: openWaitingLine(AT_ONCE) };
  const quarantine = countQuarantined(openQuarantine({ ...durable, metrics: telling.metrics }), telling);
  return { publishing, publisher, quarantine, connect: () => connect('millrace-compare') };
}
