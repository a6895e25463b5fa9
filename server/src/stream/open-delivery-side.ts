import { jetstreamManager } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Connect, Connection } from './nats/connect-nats.ts';
import { destinationOf } from './deliveries/dead-letter-box.ts';
import { type DeadLetters, openDeadLetters } from './deliveries/dead-letters.ts';
import { type HealthBucket, openHealthBucket } from './deliveries/health-bucket.ts';
import { laneIn, openLaneCounts } from './nats/lane-counts.ts';
import { type Lanes, openLanes } from './deliveries/lanes.ts';
import {
  DEAD_STREAM,
  DRAIN_CONSUMER,
  DRAIN_URGENT_CONSUMER,
  type StreamSettings,
  TICKETS_STREAM,
} from './layout/layout.ts';
import { listEventStreams } from './nats/list-streams.ts';
import { openOutcomes, type Outcomes } from './deliveries/outcomes.ts';
import { openPeers, type Peers } from './signals/peers.ts';
import { AT_ONCE } from './nats/publish-durably.ts';
import { openPublisher } from './nats/publish.ts';
import { pull, type PulledMessage } from './nats/pull.ts';
import { countQuarantined } from './quarantine/count-quarantined.ts';
import { openQuarantine, type Quarantine } from './quarantine/quarantine.ts';
import { pullRequests, type RequestsNeeds } from './events/requests.ts';
import { openWaitingLine } from './nats/waiting-line.ts';
import { type HeldTicket, openTickets, type Tickets } from './deliveries/tickets.ts';
import { trimEvents } from './events/trim-events.ts';
import { openWorkedBucket, type WorkedBucket } from './deliveries/worked-bucket.ts';
import { type Shares, type SharesNeeds, openShares } from './deliveries/shares.ts';

export type TicketTaker = {
  /** How many more can be held, of lanes whose receiver works and of the others. */
  room(isUrgent: boolean): number;
  held(ticket: HeldTicket): void;
};

/** The parts of NATS that deliver works with. */
export type DeliverySide = AsyncDisposable & {
  /** By the engine's clock. */
  now(): number;
  lanes: Lanes;
  tickets: Tickets;
  deadLetters: DeadLetters;
  health: HealthBucket;
  worked: WorkedBucket;
  outcomes: Outcomes;
  quarantine: Quarantine;
  peers: Peers;
  /** How much each destination and workspace uses of the lanes and the dead letters, which all share. */
  laneShares(needs: SharesOf): Shares;
  deadShares(needs: SharesOf): Shares;
  pullRequests(needs: Pick<RequestsNeeds, 'room' | 'taken'>): AsyncDisposable;
  /** Calls with each due ticket that this process got hold of. */
  pullTickets(needs: TicketTaker): AsyncDisposable;
  /** Resolves when the engine has read everything sent to it so far, such as acknowledgements. */
  flush(): Promise<void>;
};

export type SharesOf = Pick<SharesNeeds, 'workspaceOf' | 'mostOf' | 'leastMost' | 'refused'>;

export type DeliverySideNeeds = {
  connect: Connect;
  settings: StreamSettings;
  now(): number;
  log: Logger;
  metrics: Metrics;
  /** Of this process, for others to hear. */
  version?: string;
};

/** Its own connections: pulled requests must not wait behind the publications of collect, nor the other way round. */
export async function openDeliverySide(needs: DeliverySideNeeds): Promise<DeliverySide> {
  const { connect, settings, now, log, metrics } = needs;
  await using opening = new AsyncDisposableStack();
  const pulling = opening.use(await connect('millrace-pull'));
  const parking = opening.use(await connect('millrace-park'));
  const manager = await jetstreamManager(parking.nc, { checkAPI: false, timeout: 5_000 });
  const publisher = opening.use(openPublisher(parking));
  const durable = { connection: parking, publisher, line: openWaitingLine(AT_ONCE) };
  const quarantine = countQuarantined(openQuarantine({ ...durable, metrics }), { metrics, log });
  const tickets = openTickets({ ...durable, manager, now, quarantine });
  const peers = opening.use(openPeers(pulling, needs.version));
  const streams = () => listEventStreams(manager);
  // Control trims by age: deliver has no permission to read delivered requests.
  opening.use(trimEvents({ manager, streams, retentionMs: 0, isMyTurn: peers.isFirst, log }));
  const count = settings.laneStreams;
  const counts = opening.use(await openLaneCounts({ connection: pulling, count, log }));
  const lanes = openLanes({ ...durable, manager, count, counts, quarantine });
  const open = opening.move();
  return {
    now,
    lanes,
    ...sharesOf({ manager, peers: peers.count, log }, lanes),
    tickets,
    deadLetters: openDeadLetters(durable),
    outcomes: openOutcomes({ ...durable, metrics }, settings.outcomeStreams),
    quarantine,
    health: openHealthBucket({ ...durable, watching: pulling, quarantine, log }),
    worked: openWorkedBucket(pulling, log),
    peers,
    pullRequests: (needs) =>
      pullRequests({ ...needs, ...settings, connection: pulling, streams, now, quarantine, log }),
    pullTickets: (needs) => pullTickets(needs, { connection: pulling, tickets, log }),
    flush: async () => {
      // A connection that is lost meanwhile rejects it. NATS sends what was not acknowledged again, and the process has to end.
      await Promise.allSettled([pulling.nc.flush(), parking.nc.flush()]);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function sharesOf(
  needs: Pick<SharesNeeds, 'manager' | 'peers' | 'log'>,
  { streams }: Lanes,
): Pick<DeliverySide, 'laneShares' | 'deadShares'> {
  return {
    laneShares: (of) => openShares({ ...needs, ...of, streams, destinationOf: laneIn }),
    deadShares: (of) => openShares({ ...needs, ...of, streams: () => [DEAD_STREAM], destinationOf }),
  };
}

function pullTickets(
  { room, held }: TicketTaker,
  { tickets, ...needs }: { connection: Connection; tickets: Tickets; log: Logger },
): AsyncDisposable {
  const pullFrom = (consumer: string, isUrgent: boolean): AsyncDisposable => {
    /** Tickets that came, and whose lease is being taken. */
    const asked = new Set<Promise<void>>();
    async function hold(message: PulledMessage): Promise<void> {
      const ticket = await tickets.hold(message);
      if (ticket !== undefined) held(ticket);
    }
    const pulling = pull({
      ...needs,
      stream: TICKETS_STREAM,
      consumer,
      room: () => room(isUrgent) - asked.size,
      taken(message) {
        const holding = hold(message).finally(() => asked.delete(holding));
        asked.add(holding);
      },
    });
    return {
      async [Symbol.asyncDispose]() {
        await pulling[Symbol.asyncDispose]();
        // Their holder has to know of them before the process ends: it gives them back, and their lanes wait for no lease to end.
        await Promise.all(asked);
      },
    };
  };
  const pulls = [pullFrom(DRAIN_CONSUMER, false), pullFrom(DRAIN_URGENT_CONSUMER, true)];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(pulls.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
