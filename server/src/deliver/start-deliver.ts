import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_BATCH_BYTES } from '@millrace/contract';
import type { Networks } from '../http/address-policy.ts';
import type { HostCap, LimitValues } from '../limits/limits.ts';
import { DELIVER_END_MS } from '../limits/stop-times.ts';
import type { Logger } from '../log.ts';
import { type Metrics, openMetrics } from '../metrics/open-metrics.ts';
import type { DeliverConfig } from '../stream/config/config-bucket.ts';
import type { DeliverySide } from '../stream/open-delivery-side.ts';
import type { Answering } from '../stream/signals/asks.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { PulledRequest } from '../stream/events/requests.ts';
import { NO_TAIL, type TailWriter } from '../stream/signals/tail-writer.ts';
import { NO_TRACING, type Tracing } from '../tracing/open-tracing.ts';
import { attempt, type AttemptNeeds } from './attempt/attempt.ts';
import type { Client } from './client/open-client.ts';
import { countPosts } from './attempt/count-posts.ts';
import { openRequests, type Requests } from './request/deliver-requests.ts';
import { type Dispatcher, type DispatcherNeeds, openDispatcher } from './dispatch/dispatcher.ts';
import { type Drains, openDrains } from './lane/drains.ts';
import { findStranded } from './lane/find-stranded.ts';
import { askedToWait } from './dispatch/gate.ts';
import { type LaneReports, openLaneReports } from './lane/lane-reports.ts';
import { lookWanted } from './lane/look-wanted.ts';
import { openParker, type Parkers } from './settle/park.ts';
import { openRecorder } from './settle/outcome-log.ts';
import { type RetrySchedule, retrySchedule } from './attempt/retry-schedule.ts';
import { openSettlement } from './settle/settle.ts';
import { keyRingOf, type OnAsk, openWayOut } from './open-way-out.ts';
import { shareDeadLetters, sharesOf, writeWithinShare } from './share-storage.ts';
import { meetRequests } from './request/meet-request.ts';
import { tellStats } from './tell-stats.ts';
import { traceAttempts } from './trace-attempt.ts';
import { type LoadWatch, watchLoad } from './watch-load.ts';
import { countRefused, openOutcomeWatch, showLanes } from './settle/watch-outcomes.ts';
import { openWebhooks, type Webhook, type WebhookOf } from './attempt/webhook.ts';
import { openWorked } from './dispatch/worked.ts';
import { BACKLOG_WINDOW, LOOKS_WINDOW, openYieldingWindow, type YieldingWindow } from './dispatch/yielding-window.ts';

export type DeliverSettings = {
  keys: ReadonlyMap<number, Buffer>;
  networks: Networks;
  /** Divides every retry time. */
  retryScale: number;
  /** Attempts under way in this process. */
  maxInFlight: number;
  /** The most one lane may hold, whatever is free; by default only its share of the lanes limits it. */
  laneQuotaBytes?: number;
  /** The bytes that a workspace may keep in its lanes and as dead letters, if the operator did not change them. */
  limits?: Pick<LimitValues, 'laneBytes' | 'deadLetterBytes'>;
  /** The cell that this process serves, in an installation with several. */
  cell?: string;
  /** The cap of one host over all workspaces; without it there is none. */
  hostCap?: HostCap;
};

export type DeliverNeeds = {
  settings: DeliverSettings;
  config: DeliverConfig;
  side: DeliverySide;
  metrics: Metrics;
  tail: TailWriter;
  tracing?: Tracing;
  /** Begins to answer what control asks; without it this process is asked nothing. */
  onAsk?: OnAsk;
  /** In place of the network: the simulator has its own receivers. */
  client?: Client;
  log: Logger;
};

/** Metrics and tail are optional. */
export type StartNeeds = Omit<DeliverNeeds, 'metrics' | 'tail'> & Partial<Pick<DeliverNeeds, 'metrics' | 'tail'>>;

export type DeliverStats = {
  inFlight: number;
  late: number;
  waiting: number;
  openRequests: number;
  drains: number;
  delayMs: number;
  hostsAtCap: number;
};

/** Disposing takes on nothing new, finishes the attempts under way and stores the other deliveries. */
export type Deliver = AsyncDisposable & { stats(): DeliverStats };

/** New deliveries that wait for a slot or have one, as a multiple of the slots: enough to never run dry. */
const HELD_PER_SLOT = 4;
/** A process with few slots still stores in groups what its receivers cannot take. */
const LEAST_HELD = 1_000;
/** The memory of those deliveries with their events; as many, with as many bytes, may be on their way to the lanes. */
const MAX_HELD_BYTES = 32_000_000;
/** The bytes of open requests, as they were pulled; each holds on to its own until it is acknowledged. */
const MAX_PULLED_BYTES = 48_000_000;
/** Open requests for each slot: most of them wait for NATS then. */
const OPEN_PER_SLOT = 16;
/** Requests asked for at a time. A small number keeps the share of each process small, should it die. */
const PULL_AT_ONCE = 64;

/** The monotonic clock, for waiting inside the process. */
const uptimeMs = () => performance.now();
const random = Math.random;

export async function startDeliver({
  metrics = openMetrics(),
  tail = NO_TAIL,
  ...given
}: StartNeeds): Promise<Deliver> {
  const needs = { ...given, metrics, tail, side: countRefused(given.side, metrics) };
  const { settings, side, log } = needs;
  await using starting = new AsyncDisposableStack();
  const life = { isStopping: false };
  const load = starting.use(watchLoad());
  const windows = {
    backlog: starting.use(openYieldingWindow(BACKLOG_WINDOW)),
    looks: starting.use(openYieldingWindow(LOOKS_WINDOW)),
  };
  const parts = await openParts(needs, starting, { isStopping: () => life.isStopping, windows });
  const { dispatcher, requests, drains, asks } = parts;
  const stats = () => statsOf(parts, load);
  starting.use(tellStats(stats, log));
  showStats(needs, stats);
  const pulls = startPulls(needs, { ...parts, load, windows });
  const running = starting.move();
  log.info({ maxInFlight: settings.maxInFlight, retryScale: settings.retryScale }, 'deliver.started');
  return {
    stats,
    async [Symbol.asyncDispose]() {
      life.isStopping = true;
      const giveUpAt = performance.now() + DELIVER_END_MS;
      await Promise.all(pulls.map((pull) => pull[Symbol.asyncDispose]()));
      for (const part of [asks, requests, dispatcher]) part.stop();
      const isAtWork = () => requests.open() + drains.count() + asks.underWay() > 0;
      while (isAtWork() && performance.now() < giveUpAt) await sleep(20);
      await side.flush();
      await running.disposeAsync();
    },
  };
}

/** Limits for work that yields to new events. */
type Windows = { backlog: YieldingWindow; looks: YieldingWindow };
type Parts = { dispatcher: Dispatcher; requests: Requests; drains: Drains; asks: Pick<Answering, 'stop' | 'underWay'> };
type Sending = Pick<Parts, 'dispatcher' | 'asks'> & { reports: LaneReports; parker: Parkers; schedule: RetrySchedule };

async function openParts(
  needs: DeliverNeeds,
  stack: AsyncDisposableStack,
  { isStopping, windows }: { isStopping(): boolean; windows: Windows },
): Promise<Parts> {
  const { settings, config, side, log } = needs;
  const { now } = side;
  const webhookOf = openWebhooks({ keyRing: keyRingOf(settings.keys), log });
  const { dispatcher, asks, reports, parker, schedule } = await openSending({ ...needs, webhookOf }, stack, windows);
  const hold = (webhook: Webhook, until: number) => {
    const gate = dispatcher.gateOf(webhook.destinationId);
    dispatcher.shut(webhook.destinationId, askedToWait(gate, until, now()));
    reports.gateChanged(gate, webhook);
  };
  const recorder = stack.use(openRecorder({ outcomes: side.outcomes, log }));
  const watch = openOutcomeWatch({ ...needs, now });
  const record = (entry: OutcomeEntry) => {
    watch(entry);
    return recorder.record(entry);
  };
  const deadShares = stack.use(side.deadShares(sharesOf('deadLetterBytes', needs)));
  const deadLetters = shareDeadLetters(side.deadLetters, deadShares);
  const settling = { deadLetters, schedule, hold, record, now, random, log };
  const shared = { config, webhookOf, dispatcher, now, log };
  const most = { deliveries: mostHeld(settings), bytes: MAX_HELD_BYTES };
  const requests = stack.use(openRequests({ ...shared, most, record, ...openSettlement({ ...settling, parker }) }));
  const settlement = openSettlement({ ...settling, parker: parker.forHolder });
  const { lanes, tickets } = side;
  const { takeParked } = parker;
  const draining = { lanes, tickets, reports, takeParked, schedule, isStopping, uptimeMs, random };
  const drains = openDrains({ ...shared, ...settlement, ...draining, looks: windows.looks });
  stack.use(await side.health.watch(reports.changed));
  stack.use(config.onDestination(drains.destinationChanged));
  stack.use(findStranded({ lanes, tickets, isMyTurn: side.peers.isFirst, uptimeMs, now, log }));
  return { dispatcher, requests, drains, asks };
}

async function openSending(
  needs: DeliverNeeds & { webhookOf: WebhookOf },
  stack: AsyncDisposableStack,
  windows: Windows,
): Promise<Sending> {
  const { settings, config, side, metrics, tracing } = needs;
  const { now } = side;
  const schedule = retrySchedule(settings.retryScale);
  const { client, asks } = openWayOut({ ...needs, ...settings, schedule, now }, stack);
  const make = attemptsBy({ post: countPosts(client.post, metrics), windowMs: schedule.windowMs, now });
  const trips = metrics.counter('millrace_breaker_trips_total');
  const worked = stack.use(await openWorked({ bucket: side.worked, now }));
  const dispatcher = stack.use(
    openDispatcher({
      attempt: traceAttempts(make, tracing ?? NO_TRACING),
      peers: side.peers.count,
      learned(gate, webhook) {
        if (gate.shut?.why === 'failing') trips.add();
        reports.gateChanged(gate, webhook);
      },
      worked,
      window: windows.backlog,
      now,
      uptimeMs,
      maxInFlight: settings.maxInFlight,
      hostCap: settings.hostCap,
    }),
  );
  const shares = stack.use(side.laneShares(sharesOf('laneBytes', needs)));
  const { laneQuotaBytes = Infinity } = settings;
  const limitBytes = () => Math.min(laneQuotaBytes, shares.limitBytes());
  const reports = openLaneReports({ dispatcher, health: side.health, quotaBytes: laneQuotaBytes, limitBytes, now });
  showLanes(metrics, { lanes: reports.all, quotaBytes: limitBytes, now });
  const wanted = lookWanted({ config, webhookOf: needs.webhookOf, dispatcher, schedule, now });
  const write = writeWithinShare({ lanes: side.lanes, shares, reports });
  const parker = stack.use(openParker({ write, tickets: side.tickets, wanted }));
  return { dispatcher, asks, reports, parker, schedule };
}

/** The needs of each standing are made once, not for every attempt. */
function attemptsBy(needs: Omit<AttemptNeeds, 'standing'>): DispatcherNeeds['attempt'] {
  const needsOf = {
    works: { ...needs, standing: 'works' },
    unknown: { ...needs, standing: 'unknown' },
    failing: { ...needs, standing: 'failing' },
  } as const;
  return (batch, webhook, standing) => attempt(batch, webhook, needsOf[standing]);
}

function mostHeld({ maxInFlight }: DeliverSettings): number {
  return Math.max(LEAST_HELD, maxInFlight * HELD_PER_SLOT);
}

function statsOf({ dispatcher, requests, drains }: Parts, load: LoadWatch): DeliverStats {
  return {
    inFlight: dispatcher.inFlight(),
    late: dispatcher.late(),
    waiting: dispatcher.waiting(),
    openRequests: requests.open(),
    drains: drains.count(),
    delayMs: load.delayMs(),
    hostsAtCap: dispatcher.hostsAtCap(),
  };
}

function showStats({ metrics, settings }: DeliverNeeds, stats: () => DeliverStats): void {
  metrics.gauge('millrace_attempts_in_flight', () => stats().inFlight);
  metrics.gauge('millrace_attempts_late', () => stats().late);
  metrics.gauge('millrace_attempts_max', () => settings.maxInFlight);
  metrics.gauge('millrace_deliveries_waiting', () => stats().waiting);
  metrics.gauge('millrace_open_requests', () => stats().openRequests);
  metrics.gauge('millrace_drains', () => stats().drains);
  metrics.gauge('millrace_hosts_at_cap', () => stats().hostsAtCap);
}

type Pulling = { load: LoadWatch; windows: Windows };

function startPulls(needs: DeliverNeeds, parts: Parts & Pulling): AsyncDisposable[] {
  const { settings, config, side } = needs;
  const { dispatcher, requests, drains, load, windows } = parts;
  const { maxInFlight } = settings;
  const room = (streams: number) => {
    const held = dispatcher.inFlight() + dispatcher.late() + dispatcher.waiting();
    const forSlots = mostHeld(settings) - held;
    // As if each were as large as a request can be, and every stream would send as many.
    const forBytes = Math.floor((MAX_PULLED_BYTES - requests.bytes()) / MAX_BATCH_BYTES / streams);
    return Math.min(PULL_AT_ONCE, forSlots, maxInFlight * OPEN_PER_SLOT - requests.open(), forBytes);
  };
  const meet = meetRequests({ ...needs, requests });
  const taken = (request: PulledRequest) => {
    const { lateMs = 0 } = request;
    windows.backlog.fresh(lateMs);
    windows.looks.fresh(lateMs);
    meet(request);
  };
  const isHeldUp = () => load.isOverloaded() || !config.isSettled();
  return [
    side.pullRequests({ room: (streams) => (isHeldUp() ? 0 : room(streams)), taken }),
    side.pullTickets({ room: (isUrgent) => (isHeldUp() ? 0 : drains.room(isUrgent)), held: drains.drain }),
  ];
}
