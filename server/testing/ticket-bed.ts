import assert from 'node:assert/strict';
import { startNatsCluster } from '@millrace/engines';
import { jetstream, type JsMsg, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { openLog } from '../src/log.ts';
import { openMetrics } from '../src/metrics/open-metrics.ts';
import { openLanes } from '../src/stream/deliveries/lanes.ts';
import { reviveOverdue } from '../src/stream/deliveries/overdue-tickets.ts';
import { type HeldTicket, openTickets } from '../src/stream/deliveries/tickets.ts';
import { ticketAtSubject } from '../src/stream/layout/layout.ts';
import { connectNats } from '../src/stream/nats/connect-nats.ts';
import { openEngineClock } from '../src/stream/nats/engine-clock.ts';
import { AT_ONCE } from '../src/stream/nats/publish-durably.ts';
import { openPublisher, type Publisher } from '../src/stream/nats/publish.ts';
import { openWaitingLine } from '../src/stream/nats/waiting-line.ts';
import { openStream } from '../src/stream/open-stream.ts';
import { openQuarantine } from '../src/stream/quarantine/quarantine.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';
import { until } from './until.ts';

const log = openLog({ level: 'silent', pretty: false });
/** No redelivery, however slow the machine is. */
const LONG_ACK_WAIT_MS = 60_000;

/** One server, two deliver processes, a third one that is slow, and the due tickets. */
export async function openTicketBed(ackWaitMs = LONG_ACK_WAIT_MS) {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster());
  opening.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  const one = await openProcess(cluster.url, opening);
  const other = await openProcess(cluster.url, opening);
  const delay = { untilMs: 0 };
  const slow = { ...(await openProcess(cluster.url, opening, delay)), delay };
  for (const name of ['drain', 'drain-urgent']) {
    await one.manager.consumers.update('TICKETS', name, { ack_wait: nanos(ackWaitMs) });
  }
  const inbox = await openInbox(one.connection, opening);
  const open = opening.move();
  return {
    ...one,
    other,
    slow,
    ...inbox,
    /** The schedule that is in place: when and in which line it falls due, and whether a process holds it. */
    async scheduled(id: string) {
      const found = await one.manager.streams
        .getMessage('TICKETS', { last_by_subj: ticketAtSubject(id) })
        .catch(() => null);
      if (found === null) return undefined;
      const { held, note } = found.json<{ held: boolean; note: string }>();
      const dueAt = Date.parse((found.header.get('Nats-Schedule') ?? '').slice('@at '.length));
      return { dueAt, line: found.header.get('Nats-Schedule-Target').split('.')[1], held, note };
    },
    /** Resolves when no due message of this destination is left. */
    acknowledged: (id: string) =>
      until(async () => {
        const { state } = await one.manager.streams.info('TICKETS', { subjects_filter: `tickets.due.${id}` });
        return state.subjects === undefined;
      }),
    /** A ticket of this destination, held. */
    async held(id: string, isUrgent = false): Promise<HeldTicket> {
      assert.equal(await one.tickets.ensure(id, { dueAt: Date.now(), hurry: false, isUrgent }), 'made');
      return (await one.tickets.hold(await inbox.next(id))) ?? assert.fail('nobody else could have it');
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Tickets that are written in place of others do not leave the process before this time. */
type Delay = { untilMs: number };

function delayed(publisher: Publisher, delay: Delay): Publisher {
  return {
    ...publisher,
    publish(publication, answered) {
      const isNew = publication.headers?.some(([name, value]) => name.includes('Expected') && value === '0') === true;
      if (isNew) return publisher.publish(publication, answered);
      let forget = () => undefined as void;
      setTimeout(() => (forget = publisher.publish(publication, answered)), delay.untilMs - performance.now());
      return () => forget();
    },
  };
}

/** The connection and tickets of one deliver process. */
async function openProcess(url: string, stack: AsyncDisposableStack, delay?: Delay) {
  const connection = stack.use(await connectNats({ url, name: 'tickets', log }));
  const atOnce = stack.use(openPublisher(connection));
  const publisher = delay === undefined ? atOnce : delayed(atOnce, delay);
  const manager = await jetstreamManager(connection.nc);
  const { now } = stack.use(await openEngineClock({ connection, metrics: openMetrics(), log }));
  const durable = { connection, publisher, line: openWaitingLine(AT_ONCE) };
  const needs = { ...durable, manager, now, quarantine: openQuarantine({ ...durable, metrics: openMetrics() }) };
  const tickets = openTickets(needs);
  const held = new Set<HeldTicket>();
  // A holder renews its ticket for ever unless it is ended.
  stack.defer(async () => void (await Promise.all([...held].map((ticket) => ticket.end()))));
  const hold = async (message: JsMsg) => {
    const ticket = await tickets.hold(message);
    if (ticket !== undefined) held.add(ticket);
    return ticket;
  };
  const reviveAt = (at: number) => reviveOverdue({ ...needs, now: () => at });
  return { connection, manager, tickets: { ...tickets, hold }, reviveAt, lanes: openLanes({ ...needs, count: 1 }) };
}

/** Due tickets by destination, each taken from its line and not acknowledged. */
async function openInbox({ nc }: Awaited<ReturnType<typeof connectNats>>, stack: AsyncDisposableStack) {
  const come: JsMsg[] = [];
  for (const name of ['drain', 'drain-urgent']) {
    const consumer = await jetstream(nc).consumers.get('TICKETS', name);
    const messages = await consumer.consume({ callback: (message) => void come.push(message) });
    stack.defer(() => messages.stop());
  }
  const indexOf = (id: string) => come.findIndex(({ subject }) => subject.endsWith(`.${id}`));
  return {
    isDue: (id: string) => indexOf(id) >= 0,
    async next(id: string): Promise<JsMsg> {
      await until(() => indexOf(id) >= 0);
      return come.splice(indexOf(id), 1)[0] ?? assert.fail();
    },
  };
}

/** As if the acknowledgement got lost on its way. */
export function withoutAck(message: JsMsg): JsMsg {
  return new Proxy(message, { get: (on, name) => (name === 'ack' ? () => undefined : Reflect.get(on, name, on)) });
}
