import { jetstreamManager } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Connect, Connection } from './connect-nats.ts';
import { type DeadLetters, openDeadLetters } from './dead-letters.ts';
import { type HealthBucket, openHealthBucket } from './health-bucket.ts';
import { type Lanes, openLanes } from './lanes.ts';
import { DRAIN_CONSUMER, DRAIN_URGENT_CONSUMER, type StreamSettings, TICKETS_STREAM } from './layout.ts';
import { openOutcomes, type Outcomes } from './outcomes.ts';
import { openPeers, type Peers } from './peers.ts';
import { AT_ONCE } from './publish-durably.ts';
import { openPublisher } from './publish.ts';
import { pull } from './pull.ts';
import { openQuarantine, type Quarantine } from './quarantine.ts';
import { pullRequests, type RequestsNeeds } from './requests.ts';
import { openWaitingLine } from './waiting-line.ts';
import { type HeldTicket, openTickets, type Tickets } from './tickets.ts';
import { trimEvents } from './trim-events.ts';
import { openWorkedBucket, type WorkedBucket } from './worked-bucket.ts';

export type TicketTaker = {
  /** How many more can be held, of lanes whose receiver works and of the others. */
  room(isUrgent: boolean): number;
  held(ticket: HeldTicket): void;
};

/** Everything of the engine that deliver works with. */
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
  pullRequests(needs: Pick<RequestsNeeds, 'room' | 'taken'>): AsyncDisposable;
  /** Calls with each due ticket that this process got hold of. */
  pullTickets(needs: TicketTaker): AsyncDisposable;
  /** Resolves when the engine has read everything sent to it so far, such as acknowledgements. */
  flush(): Promise<void>;
};

export type DeliverySideNeeds = {
  connect: Connect;
  settings: StreamSettings;
  now(): number;
  log: Logger;
  metrics: Metrics;
};

/** Connections of its own: what is pulled must not stand in line behind what collect publishes, nor the other way round. */
export async function openDeliverySide({
  connect,
  settings,
  now,
  log,
  metrics,
}: DeliverySideNeeds): Promise<DeliverySide> {
  await using opening = new AsyncDisposableStack();
  const pulling = opening.use(await connect('millrace-pull'));
  const parking = opening.use(await connect('millrace-park'));
  const manager = await jetstreamManager(parking.nc, { checkAPI: false, timeout: 5_000 });
  const publisher = opening.use(openPublisher(parking));
  const durable = { connection: parking, publisher, line: openWaitingLine(AT_ONCE) };
  const tickets = openTickets({ ...durable, manager, now });
  const peers = opening.use(openPeers(pulling));
  opening.use(trimEvents({ manager, eventStreams: settings.eventStreams, log }));
  const open = opening.move();
  return {
    now,
    lanes: openLanes({ ...durable, manager, count: settings.laneStreams }),
    tickets,
    deadLetters: openDeadLetters(durable),
    outcomes: openOutcomes(durable),
    quarantine: openQuarantine({ ...durable, metrics }),
    health: openHealthBucket({ ...durable, watching: pulling, log }),
    worked: openWorkedBucket(pulling, log),
    peers,
    pullRequests: (needs) => pullRequests({ ...needs, connection: pulling, eventStreams: settings.eventStreams, log }),
    pullTickets: (needs) => pullTickets(needs, { connection: pulling, tickets, log }),
    flush: async () => {
      await Promise.all([pulling.nc.flush(), parking.nc.flush()]);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function pullTickets(
  { room, held }: TicketTaker,
  { tickets, ...needs }: { connection: Connection; tickets: Tickets; log: Logger },
): AsyncDisposable {
  const pullFrom = (consumer: string, isUrgent: boolean) => {
    let asked = 0;
    return pull({
      ...needs,
      stream: TICKETS_STREAM,
      consumer,
      room: () => room(isUrgent) - asked,
      taken(message) {
        asked += 1;
        void tickets.hold(message).then((ticket) => {
          asked -= 1;
          if (ticket !== undefined) held(ticket);
        });
      },
    });
  };
  const pulls = [pullFrom(DRAIN_CONSUMER, false), pullFrom(DRAIN_URGENT_CONSUMER, true)];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(pulls.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
