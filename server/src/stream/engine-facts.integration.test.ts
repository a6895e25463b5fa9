/** The behaviour of NATS that lanes and tickets rely on, fact by fact: a server version that changes one turns this red. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiError,
  jetstream,
  type JsMsg,
  jetstreamManager,
} from '@nats-io/jetstream';
import { headers, nanos } from '@nats-io/nats-core';
import { openLog } from '../log.ts';
import { connectNats } from './nats/connect-nats.ts';
import { openLanes } from './deliveries/lanes.ts';
import { anyTicketSubject, ticketAtSubject, ticketDueSubject } from './layout/layout.ts';
import { openStream } from './open-stream.ts';
import { openPublisher } from './nats/publish.ts';
import { resizeStream } from './prepare/resize-stream.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import { openQuarantine } from './quarantine/quarantine.ts';
import { openWaitingLine } from './nats/waiting-line.ts';
import { AT_ONCE, type Durable, publishDurably } from './nats/publish-durably.ts';
import { until } from '../../testing/until.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const ACK_WAIT_MS = 1_000;
/** NATS looks for due schedules once a second at most; the rest is for a busy machine. */
const FIRES_WITHIN_MS = 5_000;

type Scheduled = { dueAt: number; note?: string; expected?: number };

/** Our own layout on servers of the test's own, and due tickets noted as they come. */
async function openFacts(nodes: 1 | 3 = 1) {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ nodes }));
  opening.use(await openStream({ natsUrl: cluster.url, settings: { ...STREAM_SETTINGS, replicas: nodes }, log }));
  const connection = opening.use(await connectNats({ url: cluster.url, name: 'facts', log }));
  const publisher = opening.use(openPublisher(connection));
  const manager = await jetstreamManager(connection.nc);
  await manager.consumers.update('TICKETS', 'drain', { ack_wait: nanos(ACK_WAIT_MS) });
  const due: { message: JsMsg; at: number }[] = [];
  const consumer = await jetstream(connection.nc).consumers.get('TICKETS', 'drain');
  const messages = await consumer.consume({ callback: (message) => void due.push({ message, at: Date.now() }) });
  opening.defer(() => messages.stop());
  const open = opening.move();
  const needs = { connection, publisher, line: openWaitingLine(AT_ONCE) };
  return {
    cluster,
    connection,
    manager,
    lanes: openLanes({ ...needs, manager, count: 1, quarantine: openQuarantine({ ...needs, metrics: openMetrics() }) }),
    schedule(id: string, { dueAt, note = '', expected }: Scheduled): Promise<Durable> {
      const publication = { subject: ticketAtSubject(id), headers: [...scheduleHeaders(id, dueAt)] };
      if (expected !== undefined) publication.headers.push(['Nats-Expected-Last-Subject-Sequence', String(expected)]);
      return publishDurably({ ...publication, payload: Buffer.from(note) }, needs);
    },
    due,
    dueFor: (id: string) => due.filter(({ message }) => message.subject === ticketDueSubject(id)),
    notes: (id: string) =>
      due.filter((each) => each.message.subject.endsWith(`.${id}`)).map((each) => each.message.string()),
    count: async (stream: string, subject: string) =>
      (await manager.streams.info(stream, { subjects_filter: subject })).state.subjects?.[subject] ?? 0,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Facts = Awaited<ReturnType<typeof openFacts>>;

function scheduleHeaders(id: string, dueAt: number): [string, string][] {
  return [
    ['Nats-Schedule', `@at ${new Date(dueAt).toISOString()}`],
    ['Nats-Schedule-Target', ticketDueSubject(id)],
  ];
}

const sequenceOf = (answer: Durable): number => (answer.kind === 'stored' ? answer.sequence : assert.fail(answer.kind));

// Side by side, each with servers of its own: most of the time is spent waiting.
suite('the engine', { concurrency: true }, () => {
  suite('schedules', { concurrency: true }, () => {
    let facts: Facts;
    before(async () => void (facts = await openFacts()));
    after(() => facts[Symbol.asyncDispose]());

    test('a subject has one: a new one takes the place of the old one', async () => {
      const now = Date.now();
      await facts.schedule('one', { dueAt: now + 4_000, note: 'old' });
      await facts.schedule('one', { dueAt: now + 5_000, note: 'new' });
      assert.equal(await facts.count('TICKETS', ticketAtSubject('one')), 1);
      await until(() => facts.notes('one').length > 0);
      assert.equal(facts.notes('one')[0], 'new', 'the old one never fires');
    });

    test('with expected sequence 0 it is made only where there is none: error 10071, to us a conflict', async () => {
      const dueAt = Date.now() + 60_000;
      assert.equal((await facts.schedule('absent', { dueAt, expected: 0 })).kind, 'stored');
      assert.equal((await facts.schedule('absent', { dueAt, expected: 0 })).kind, 'conflict');
      const head = headers();
      for (const [name, value] of scheduleHeaders('absent', dueAt)) head.append(name, value);
      head.append('Nats-Expected-Last-Subject-Sequence', '0');
      const again = jetstream(facts.connection.nc).publish(ticketAtSubject('absent'), '', { headers: head });
      await assert.rejects(again, (error) => error instanceof JetStreamApiError && error.code === 10071);
    });

    test('with the right expected sequence it is replaced, with a wrong one it stays as it was', async () => {
      const dueAt = Date.now() + 60_000;
      const first = sequenceOf(await facts.schedule('replaced', { dueAt, note: 'first' }));
      const second = sequenceOf(await facts.schedule('replaced', { dueAt, note: 'second', expected: first }));
      assert.equal((await facts.schedule('replaced', { dueAt, note: 'third', expected: first })).kind, 'conflict');
      const found = await facts.manager.streams.getMessage('TICKETS', { last_by_subj: ticketAtSubject('replaced') });
      assert.deepEqual([found?.seq, found?.string()], [second, 'second']);
    });

    test('fires at its time: not before, and soon after', async () => {
      const dueAt = Date.now() + 1_200;
      await facts.schedule('timely', { dueAt });
      await until(() => facts.dueFor('timely').length > 0);
      const lateMs = (facts.dueFor('timely')[0]?.message.time.getTime() ?? 0) - dueAt;
      assert.ok(lateMs >= 0 && lateMs <= FIRES_WITHIN_MS, `${lateMs} ms late`);
    });

    test('that is past due when it is made fires at once', async () => {
      const madeAt = Date.now();
      await facts.schedule('past', { dueAt: madeAt - 60_000 });
      await until(() => facts.dueFor('past').length > 0);
      const lateMs = (facts.dueFor('past')[0]?.message.time.getTime() ?? 0) - madeAt;
      assert.ok(lateMs <= FIRES_WITHIN_MS, `${lateMs} ms late`);
    });

    test('is cancelled by deleting its message', async () => {
      const dueAt = Date.now() + 4_000;
      const sequence = sequenceOf(await facts.schedule('cancelled', { dueAt }));
      await facts.manager.streams.deleteMessage('TICKETS', sequence, false);
      await facts.schedule('kept', { dueAt: dueAt + 500 });
      await until(() => facts.dueFor('kept').length > 0);
      assert.equal(facts.dueFor('cancelled').length, 0);
    });

    test('that fired has given its payload to the due message, and is gone itself', async () => {
      await facts.schedule('fired', { dueAt: Date.now(), note: 'what the last holder wrote' });
      await until(() => facts.dueFor('fired').length > 0);
      assert.equal(facts.notes('fired')[0], 'what the last holder wrote');
      assert.equal(await facts.count('TICKETS', ticketAtSubject('fired')), 0);
      assert.equal((await facts.schedule('fired', { dueAt: Date.now() + 60_000, expected: 0 })).kind, 'stored');
    });

    test('the last message under a wildcard is the schedule, or the due message once it has fired', async () => {
      const last = async () =>
        (await facts.manager.streams.getMessage('TICKETS', { last_by_subj: anyTicketSubject('last') }))?.subject;
      await facts.schedule('last', { dueAt: Date.now() + 4_000 });
      assert.equal(await last(), ticketAtSubject('last'));
      await until(() => facts.dueFor('last').length > 0);
      assert.equal(await last(), ticketDueSubject('last'));
      await facts.schedule('last', { dueAt: Date.now() + 60_000 });
      assert.equal(await last(), ticketAtSubject('last'));
    });

    test('a due message that nobody acknowledges comes back after ack_wait, marked as redelivered', async () => {
      await facts.schedule('crashed', { dueAt: Date.now(), note: 'n' });
      await until(() => facts.dueFor('crashed').length >= 2);
      const [first, second] = facts.dueFor('crashed');
      assert.deepEqual([first?.message.redelivered, second?.message.redelivered], [false, true]);
      assert.equal(second?.message.string(), 'n');
      const waitedMs = (second?.at ?? 0) - (first?.message.time.getTime() ?? 0);
      assert.ok(waitedMs >= ACK_WAIT_MS, `came back after ${waitedMs} ms`);
      second?.message.ack();
      await until(async () => (await facts.count('TICKETS', ticketDueSubject('crashed'))) === 0);
    });

    test('a newer due message displaces an older one that is not acknowledged', async () => {
      await facts.schedule('displaced', { dueAt: Date.now(), note: 'old' });
      await until(() => facts.notes('displaced').length > 0);
      await facts.schedule('displaced', { dueAt: Date.now(), note: 'new' });
      await until(() => facts.notes('displaced').includes('new'));
      assert.equal(await facts.count('TICKETS', ticketDueSubject('displaced')), 1);
      const { length } = facts.notes('displaced');
      await until(() => facts.notes('displaced').length > length + 1);
      assert.ok(!facts.notes('displaced').slice(length).includes('old'), 'only the new one comes back');
    });

    test('a consumer of tickets.due.* never gets a schedule itself', async () => {
      await facts.schedule('hidden', { dueAt: Date.now() + 60_000 });
      await facts.schedule('shown', { dueAt: Date.now() });
      await until(() => facts.dueFor('shown').length > 0);
      const others = facts.due.filter(({ message }) => !message.subject.startsWith('tickets.due.'));
      assert.deepEqual(others, []);
      assert.equal(await facts.count('TICKETS', ticketAtSubject('hidden')), 1);
    });
  });

  suite('groups in a lane', () => {
    const place = (destinationId: string, tier = 0) => ({ destinationId, tier });
    let facts: Facts;
    before(async () => void (facts = await openFacts()));
    after(() => facts[Symbol.asyncDispose]());
    const append = async (id: string, ...texts: string[]) => {
      for (const text of texts) assert.equal(await facts.lanes.append(place(id), Buffer.from(text)), 'stored');
    };
    const read = async (id: string, from = 1, most = 10) =>
      (await facts.lanes.read(place(id), from, most)).map(({ payload }) => Buffer.from(payload).toString());

    test('are read by subject from a sequence on, in order, and no more than wanted', async () => {
      await append('read', 'a', 'b');
      await append('other', 'x');
      await append('read', 'c', 'd');
      assert.deepEqual(await read('read'), ['a', 'b', 'c', 'd']);
      assert.deepEqual(await read('read', 1, 3), ['a', 'b', 'c']);
      const [, , third] = await facts.lanes.read(place('read'), 1, 10);
      assert.deepEqual(await read('read', third?.sequence), ['c', 'd']);
    });

    test('that are not there are answered with status 404, to us an empty list', async () => {
      const options = { seq: 1, next_by_subj: 'lanes.0.nobody.0', batch: 10 };
      const reading = async () => {
        for await (const message of await facts.manager.direct.getBatch('LANES-0', options))
          assert.fail(message.subject);
      };
      await assert.rejects(reading, { code: 404 });
      assert.deepEqual(await read('nobody'), []);
      await append('few', 'a');
      const [only] = await facts.lanes.read(place('few'), 1, 10);
      assert.deepEqual(await read('few', (only?.sequence ?? 0) + 1), [], 'after the last one');
    });

    test('are dropped up to a sequence: later ones and those of other subjects stay', async () => {
      await append('dropped', 'a', 'b');
      await append('beside', 'x');
      await append('dropped', 'c');
      const [, second] = await facts.lanes.read(place('dropped'), 1, 10);
      await facts.lanes.drop(place('dropped'), second?.sequence ?? 0);
      assert.deepEqual(await read('dropped'), ['c']);
      assert.deepEqual(await read('beside'), ['x']);
      const [third] = await facts.lanes.read(place('dropped'), 1, 10);
      await facts.lanes.drop(place('dropped'), third?.sequence ?? 0);
      assert.deepEqual([...(await facts.lanes.count('dropped'))], []);
      assert.deepEqual([...(await facts.lanes.count('beside'))], [[0, 1]]);
    });

    test('over the limit of one subject are refused, which we read as full; other subjects are not', async () => {
      const { config } = await facts.manager.streams.info('LANES-0');
      assert.equal(config.discard_new_per_subject, true);
      await facts.manager.streams.update('LANES-0', { max_msgs_per_subject: 5 });
      await append('full', '1', '2', '3', '4', '5');
      assert.equal(await facts.lanes.append(place('full'), Buffer.from('6')), 'full');
      await append('roomy', '1');
      assert.deepEqual(await read('full'), ['1', '2', '3', '4', '5']);
    });
  });

  suite('a server that is killed', () => {
    test('still fires its schedules when it is back', async () => {
      await using facts = await openFacts();
      const [node] = facts.cluster.nodes;
      const now = Date.now();
      await facts.schedule('soon', { dueAt: now + 300, note: 'while it was away' });
      await facts.schedule('later', { dueAt: now + 2_500, note: 'afterwards' });
      await node?.kill('SIGKILL');
      await until(() => Date.now() > now + 300);
      await node?.start();
      await until(() => facts.notes('soon').length > 0 && facts.notes('later').length > 0);
      assert.equal(facts.notes('soon')[0], 'while it was away');
      assert.equal(facts.notes('later')[0], 'afterwards');
      assert.ok((facts.dueFor('later')[0]?.at ?? 0) >= now + 2_500);
    });
  });

  suite('a replica that lags', () => {
    test('may answer a direct get with nothing while the count is the leader’s: emptiness is believed only from the count', async (t) => {
      await using facts = await openFacts(3);
      const { cluster } = await facts.manager.streams.info('LANES-0');
      const follower = facts.cluster.nodes.find(({ name }) => name !== cluster?.leader);
      // A direct get is answered by the server that one is connected to, if it has the stream.
      await using near = await connectNats({ url: follower?.url ?? '', name: 'near', log });
      using publisher = openPublisher(near);
      const manager = await jetstreamManager(near.nc);
      const durable = { connection: near, publisher, line: openWaitingLine(1) };
      const quarantine = openQuarantine({ ...durable, metrics: openMetrics() });
      const { append, read, count } = openLanes({ ...durable, manager, count: 1, quarantine });
      let isStale = false;
      for (let round = 0; !isStale && round < 2_000; round += 1) {
        const destinationId = `dst_${round}`;
        await append({ destinationId, tier: 0 }, Buffer.from('x'));
        const [groups, counts] = await Promise.all([read({ destinationId, tier: 0 }, 1, 2), count(destinationId)]);
        isStale = groups.length === 0;
        assert.deepEqual([...counts], [[0, 1]], 'the leader always knows');
      }
      // A replica may lag, it does not have to: on some machines none is caught at it.
      t.diagnostic(isStale ? 'a replica was caught lagging' : 'no replica lagged in 2,000 rounds');
    });
  });
});

suite('a message that is given back with a delay', () => {
  test('stays unacknowledged: as many as a consumer may have at a time keep it from giving out others', async () => {
    await using open = new AsyncDisposableStack();
    const cluster = open.use(await startNatsCluster());
    const { nc } = open.use(await connectNats({ url: cluster.adminUrl, name: 'facts', log }));
    const manager = await jetstreamManager(nc);
    const js = jetstream(nc);
    await manager.streams.add({ name: 'GIVEN', subjects: ['given.*'] });
    const most = { ack_policy: AckPolicy.Explicit, max_ack_pending: 2 };
    await manager.consumers.add('GIVEN', { durable_name: 'taker', ...most });
    for (const name of ['a', 'b', 'c']) await js.publish(`given.${name}`);
    const consumer = await js.consumers.get('GIVEN', 'taker');
    const taken = [await consumer.next(), await consumer.next()];
    for (const message of taken) message?.nak(3_600_000);
    await nc.flush();
    assert.equal(await consumer.next({ expires: 1_000 }), null, 'the third one has to wait for them');
    const { num_ack_pending: unacknowledged } = await manager.consumers.info('GIVEN', 'taker');
    assert.equal(unacknowledged, 2);
  });
});

suite('limits of streams', () => {
  const subjects = ['room.*'];
  const openRoom = async (open: AsyncDisposableStack) => {
    const cluster = open.use(await startNatsCluster({ maxFileStoreMb: 100 }));
    const { nc } = open.use(await connectNats({ url: cluster.adminUrl, name: 'facts', log }));
    return { manager: await jetstreamManager(nc), js: jetstream(nc) };
  };
  const isNoRoom = (error: unknown) => error instanceof JetStreamApiError && error.code === 10_047;

  test('are reserved: a stream is neither made nor enlarged where its limit does not fit', async () => {
    await using open = new AsyncDisposableStack();
    const { manager } = await openRoom(open);
    await manager.streams.add({ name: 'ROOM', subjects, max_bytes: 60_000_000 });
    await assert.rejects(manager.streams.add({ name: 'MORE', subjects: ['more.*'], max_bytes: 60_000_000 }), isNoRoom);
    await assert.rejects(manager.streams.update('ROOM', { max_bytes: 120_000_000 }), isNoRoom);
    const reached = await resizeStream(manager, { name: 'ROOM', maxBytes: 60_000_000 }, 200_000_000);
    assert.ok(reached > 90_000_000 && reached < 105_000_000, `${reached} of 100 MiB`);
    assert.equal((await manager.streams.info('ROOM')).config.max_bytes, reached);
  });

  test('drop nothing when they fall below what is stored, and refuse what is new', async () => {
    await using open = new AsyncDisposableStack();
    const { manager, js } = await openRoom(open);
    await manager.streams.add({ name: 'ROOM', subjects, max_bytes: 1_000_000, discard: DiscardPolicy.New });
    for (let sent = 0; sent < 5; sent += 1) await js.publish('room.a', Buffer.alloc(100_000));
    await manager.streams.update('ROOM', { max_bytes: 300_000 });
    assert.equal((await manager.streams.info('ROOM')).state.messages, 5);
    await assert.rejects(js.publish('room.a', Buffer.alloc(100)), /maximum bytes exceeded/);
  });
});
