/**
 * Facts of the engine that the simulator's model has to share, one list for both: conformance.test.ts runs it on the model, in virtual time,
 * conformance.integration.test.ts on a real NATS. Each fact has subjects of its own. None is about how fast an engine is, only about
 * what happens, in which order, and not before which time.
 */
import assert from 'node:assert/strict';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { openLog } from '../../../../server/src/log.ts';
import { ticketAtSubject, ticketDueSubject, WORKED_BUCKET } from '../../../../server/src/stream/layout/layout.ts';
import { readAt, readLast, readNext, readReplica, removeAt } from '../../../../server/src/stream/nats/read-subject.ts';
import { watchBucket } from '../../../../server/src/stream/nats/watch-bucket.ts';
import {
  type Client,
  expecting,
  pullAll,
  schedule,
  sequenceOf,
  subjectsIn,
  subscriptionsOf,
  text,
  until,
} from './fact-client.ts';

export type Fact = { name: string; holds(client: Client): Promise<void> };

const log = openLog({ level: 'silent', pretty: false });
const ACK_WAIT_MS = 7_000;
/** Timers of Node are early by less than this. */
const EARLY_MS = 20;

const WRITES: readonly Fact[] = [
  {
    name: 'the same id within the duplicate window is one message, with the sequence of the first',
    async holds({ publish }) {
      const first = await publish('lanes.0.same-id.1', '1', { id: 'conformance' });
      const second = await publish('lanes.0.same-id.1', '2', { id: 'conformance' });
      assert.deepEqual(second, { kind: 'stored', sequence: sequenceOf(first), duplicate: true });
    },
  },
  {
    name: 'a write that expects another last sequence of its subject is refused, and stores nothing',
    async holds(client) {
      const subject = 'lanes.0.expecting.1';
      const first = sequenceOf(await client.publish(subject, '1', expecting(0)));
      assert.equal((await client.publish(subject, '2', expecting(0))).kind, 'conflict');
      assert.equal((await client.publish(subject, '3', expecting(first))).kind, 'stored');
      assert.deepEqual(await subjectsIn(client, 'LANES-0', subject), { [subject]: 2 });
    },
  },
  {
    name: 'a subject of no stream is answered with the status 503',
    async holds({ publish }) {
      assert.equal((await publish('no.stream.has.this')).kind, 'no_leader');
    },
  },
];

const READS: readonly Fact[] = [
  {
    name: 'messages of a subject are read from a sequence on, in order, and no more than asked for',
    async holds({ publish, manager }) {
      const stored: number[] = [];
      for (const destination of ['read', 'other', 'read', 'read', 'read'])
        stored.push(sequenceOf(await publish(`lanes.0.${destination}.1`, destination)));
      const place = { stream: 'LANES-0', subject: 'lanes.0.read.1', from: (stored[0] ?? 0) + 1 };
      await until(async () => (await readReplica(manager, place, 9)).length === 3);
      assert.deepEqual(
        (await readReplica(manager, place, 2)).map(({ seq, subject }) => [seq, subject]),
        stored.slice(2, 4).map((seq) => [seq, place.subject]),
      );
      assert.deepEqual(await readReplica(manager, { ...place, from: (stored[4] ?? 0) + 1 }, 2), []);
      assert.equal((await readNext(manager, { ...place, from: 1 }))?.seq, stored[0]);
      assert.equal((await readLast(manager, 'LANES-0', place.subject))?.seq, stored[4]);
      assert.equal(await readNext(manager, { ...place, from: (stored[4] ?? 0) + 1 }), undefined);
    },
  },
  {
    name: 'a read leaves no subscription behind',
    async holds({ manager, connection: { nc } }) {
      const before = subscriptionsOf(nc);
      for (const subject of ['lanes.0.read.1', 'lanes.0.nothing.1'])
        await readReplica(manager, { stream: 'LANES-0', subject, from: 1 }, 3);
      await until(() => subscriptionsOf(nc) <= before);
    },
  },
  {
    name: 'a purge up to a sequence leaves later messages of its subject, and those of others',
    async holds(client) {
      const stored: number[] = [];
      for (const destination of ['purged', 'purged', 'kept', 'purged'])
        stored.push(sequenceOf(await client.publish(`lanes.0.${destination}.2`)));
      const filter = 'lanes.0.purged.2';
      await client.manager.streams.purge('LANES-0', { filter, seq: stored[3] ?? 0 });
      assert.deepEqual(await subjectsIn(client, 'LANES-0', 'lanes.0.*.2'), { [filter]: 1, 'lanes.0.kept.2': 1 });
      assert.equal((await readNext(client.manager, { stream: 'LANES-0', subject: filter, from: 1 }))?.seq, stored[3]);
    },
  },
  {
    name: 'a message that was deleted is not found, and deleting it again says so',
    async holds({ publish, manager }) {
      const seq = sequenceOf(await publish('lanes.0.deleted.1'));
      assert.equal((await readAt(manager, 'LANES-0', seq))?.seq, seq);
      await removeAt(manager, { stream: 'LANES-0', seq, isErased: false });
      assert.equal(await readAt(manager, 'LANES-0', seq), undefined);
      await removeAt(manager, { stream: 'LANES-0', seq, isErased: false });
    },
  },
];

const SCHEDULES: readonly Fact[] = [
  {
    name: 'a schedule fires at its time and not before, with its payload, and is gone then',
    async holds(client) {
      const dueAt = performance.now() + 2_000;
      await client.publish(ticketAtSubject('fires'), 'the payload', schedule('fires', 2_000));
      const subjects = async () => Object.keys(await subjectsIn(client, 'TICKETS', 'tickets.*.fires'));
      assert.deepEqual(await subjects(), [ticketAtSubject('fires')]);
      await until(async () => (await subjects()).includes(ticketDueSubject('fires')));
      // Clocks of servers differ from ours by less.
      assert.ok(performance.now() >= dueAt - 500, 'it fired too early');
      await until(async () => !(await subjects()).includes(ticketAtSubject('fires')));
      const due = await readLast(client.manager, 'TICKETS', ticketDueSubject('fires'));
      assert.equal(due && text(due), 'the payload');
    },
  },
  {
    name: 'a subject has one schedule: a newer one takes the place of the older one',
    async holds(client) {
      const subject = ticketAtSubject('replaced');
      const first = sequenceOf(await client.publish(subject, 'first', schedule('replaced', 600_000)));
      await client.publish(subject, 'second', {
        headers: [...schedule('replaced', 600_000).headers, ...expecting(first).headers],
      });
      assert.deepEqual(await subjectsIn(client, 'TICKETS', subject), { [subject]: 1 });
      const last = await readLast(client.manager, 'TICKETS', subject);
      assert.equal(last && text(last), 'second');
    },
  },
];

const CONSUMERS: readonly Fact[] = [
  {
    name: 'a message comes again when it is given back, after ack_wait when it is not answered, and not after an acknowledgement',
    async holds(client) {
      await using pulled = pullAll(client, 'EVENTS-0', 'deliver');
      const { got } = pulled;
      await client.publish('events.0.again', 'again');
      await until(() => got.length === 1);
      const givenBackAt = performance.now();
      got[0]?.message.nak();
      await until(() => got.length === 3);
      assert.ok((got[2]?.at ?? 0) - givenBackAt >= ACK_WAIT_MS - EARLY_MS, 'it came before ack_wait');
      got[2]?.message.ack();
      // A message behind it comes; the acknowledged one does not come with it.
      await client.publish('events.0.again', 'next');
      await until(() => got.length === 4);
      got[3]?.message.ack();
      const seen = got.map(({ message }) => [text(message), message.redelivered]);
      assert.deepEqual(seen, [
        ['again', false],
        ['again', true],
        ['again', true],
        ['next', false],
      ]);
    },
  },
  {
    name: 'a message that is given back with a delay does not come before',
    async holds(client) {
      await using pulled = pullAll(client, 'EVENTS-0', 'deliver');
      const { got } = pulled;
      await client.publish('events.0.later', 'later');
      await until(() => got.length === 1);
      const givenBackAt = performance.now();
      got[0]?.message.nak(1_000);
      await until(() => got.length === 2);
      assert.ok((got[1]?.at ?? 0) - givenBackAt >= 1_000 - EARLY_MS);
      got[1]?.message.ack();
    },
  },
  {
    name: 'a work queue drops what was acknowledged',
    async holds(client) {
      await using pulled = pullAll(client, 'OUTCOMES', 'record');
      const { got } = pulled;
      for (const each of ['1', '2']) await client.publish('outcomes.0', each);
      await until(() => got.length === 2);
      got[0]?.message.ack();
      await until(async () => (await subjectsIn(client, 'OUTCOMES', '>'))['outcomes.0'] === 1);
      got[1]?.message.ack();
    },
  },
];

const BUCKETS: readonly Fact[] = [
  {
    name: 'a watch shows the last value of each key, and then each change, in order',
    async holds({ connection }) {
      const bucket = await new Kvm(jetstream(connection.nc)).open(WORKED_BUCKET);
      for (const [key, value] of [
        ['a', '1'],
        ['b', '1'],
        ['a', '2'],
      ] as const)
        await bucket.put(key, value);
      const seen: string[] = [];
      const changed = (key: string, entry: unknown, value: string) =>
        void seen.push(entry === undefined ? `${key} gone` : `${key} ${value}`);
      await using _ = await watchBucket({ connection, name: WORKED_BUCKET, bucket, changed, log });
      assert.deepEqual(seen, ['b 1', 'a 2']);
      await bucket.put('b', '2');
      await bucket.delete('a');
      await until(() => seen.length === 4);
      assert.deepEqual(seen.slice(2), ['b 2', 'a gone']);
    },
  },
];

export const FACTS: readonly Fact[] = [...WRITES, ...READS, ...SCHEDULES, ...CONSUMERS, ...BUCKETS];
