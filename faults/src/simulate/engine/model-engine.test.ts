import '../clock/virtual-globals.ts';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { laneSubject, ticketAtSubject, ticketDueSubject } from '../../../../server/src/stream/layout/layout.ts';
import type { Connection } from '../../../../server/src/stream/nats/connect-nats.ts';
import { openPublisher, type PublishAnswer } from '../../../../server/src/stream/nats/publish.ts';
import { pull, type PulledMessage } from '../../../../server/src/stream/nats/pull.ts';
import { openLog } from '../../../../server/src/log.ts';
import { openVirtualClock, running } from '../clock/virtual-clock.ts';
import { STREAMS } from '../world.ts';
import { connectModel } from './model-connection.ts';
import { openModelEngine } from './model-engine.ts';

const STARTS_AT = Date.UTC(2026, 0, 1);
const log = openLog({ level: 'silent', pretty: false });

/** The model, and a client of it with the real library. */
function openBed() {
  const clock = openVirtualClock({ startsAt: STARTS_AT, failed: (_, error) => assert.fail(String(error)) });
  const engine = openModelEngine({ clock, seed: 1, settings: STREAMS });
  const process = clock.start('client', () => 0.5);
  const inside = <T>(run: () => T): T => running.run(process, run);
  const connection = inside(() => connectModel(engine, process, 1));
  /** Runs the clock until the promise is settled. */
  async function settled<T>(asked: Promise<T>): Promise<T> {
    let isDone = false;
    const done = asked.finally(() => (isDone = true));
    done.catch(() => undefined);
    await clock.runUntil(clock.now() + 60_000, () => isDone);
    return done;
  }
  return { clock, engine, inside, connection, settled };
}

type Headers = readonly (readonly [string, string])[];

function publishing(connection: Connection) {
  const publisher = openPublisher(connection);
  return (subject: string, headers: Headers = [], id?: string): Promise<PublishAnswer> => {
    const publication = { subject, headers, payload: Buffer.from('{}'), ...(id === undefined ? {} : { id }) };
    return new Promise((resolve) => publisher.publish(publication, resolve));
  };
}

suite('the model of the engine', () => {
  test('stores the same id once within the duplicate window', async () => {
    const { inside, connection, settled } = openBed();
    const publish = inside(() => publishing(connection));
    const first = await settled(inside(() => publish('events.0.src', [], 'same')));
    const second = await settled(inside(() => publish('events.0.src', [], 'same')));
    assert.deepEqual(first, { kind: 'stored', sequence: 1, duplicate: false });
    assert.deepEqual(second, { kind: 'stored', sequence: 1, duplicate: true });
  });

  test('refuses a write that expects another last sequence of its subject', async () => {
    const { inside, connection, settled } = openBed();
    const publish = inside(() => publishing(connection));
    const expecting = (sequence: number): Headers => [['Nats-Expected-Last-Subject-Sequence', String(sequence)]];
    const kinds: string[] = [];
    for (const expected of [0, 0, 1]) {
      kinds.push((await settled(inside(() => publish(laneSubject(0, 'd', 0), expecting(expected))))).kind);
    }
    assert.deepEqual(kinds, ['stored', 'conflict', 'stored']);
  });

  test('fires a schedule at its time and takes it away, with its payload in the due message', async () => {
    const { clock, inside, connection, engine, settled } = openBed();
    const publish = inside(() => publishing(connection));
    const headers: Headers = [
      ['Nats-Schedule', `@at ${new Date(STARTS_AT + 5_000).toISOString()}`],
      ['Nats-Schedule-Target', ticketDueSubject('d')],
    ];
    await settled(inside(() => publish(ticketAtSubject('d'), headers)));
    const tickets = () => [...(engine.streams.get('TICKETS')?.stored.subjects('>').keys() ?? [])];
    assert.deepEqual(tickets(), [ticketAtSubject('d')]);
    await clock.runUntil(4_700);
    assert.deepEqual(tickets(), [ticketAtSubject('d')]);
    await clock.runUntil(5_500);
    assert.deepEqual(tickets(), [ticketDueSubject('d')]);
  });

  test('sends a message again after ack_wait, not after an acknowledgement, and at once when it is given back', async () => {
    const { clock, inside, connection, settled } = openBed();
    const publish = inside(() => publishing(connection));
    const got: PulledMessage[] = [];
    const needs = { connection, stream: 'EVENTS-0', consumer: 'deliver', room: () => 10, log };
    inside(() => pull({ ...needs, taken: (message) => got.push(message) }));
    await settled(inside(() => publish('events.0.src')));
    await clock.runUntil(1_000);
    assert.equal(got.length, 1);
    inside(() => got[0]?.nak());
    await clock.runUntil(2_000);
    assert.equal(got.length, 2);
    await clock.runUntil(10_500);
    assert.equal(got.length, 3);
    inside(() => got[2]?.ack());
    await clock.runUntil(60_000);
    assert.deepEqual(
      got.map(({ redelivered }) => redelivered),
      [false, true, true],
    );
  });

  test('drops messages of a subject up to a sequence, and replicas that are behind still show them', async () => {
    const { clock, inside, connection, engine, settled } = openBed();
    const publish = inside(() => publishing(connection));
    for (const destination of ['d', 'd', 'e', 'd'])
      await settled(inside(() => publish(laneSubject(0, destination, 1))));
    const manager = await settled(inside(() => jetstreamManager(connection.nc, { checkAPI: false })));
    const subject = laneSubject(0, 'd', 1);
    await clock.runUntil(1_000);
    await settled(inside(() => manager.streams.purge('LANES-0', { filter: subject, seq: 3 })));
    const stored = engine.streams.get('LANES-0')?.stored;
    assert.deepEqual(Object.fromEntries(stored?.subjects('>') ?? []), { [subject]: 1, [laneSubject(0, 'e', 1)]: 1 });
    const behind = stored?.readBehind({ pattern: subject, from: 1, most: 9, behindMs: 100 }, clock.now());
    assert.deepEqual(
      behind?.map(({ seq }) => seq),
      [1, 2, 4],
    );
  });

  test('gives no answer, or says that there is no leader, while it elects one', async () => {
    const { inside, connection, engine, settled, clock } = openBed();
    const publish = inside(() => publishing(connection));
    engine.streams.get('EVENTS-0')?.group.elect(500, 5_000);
    const silent = inside(() => publish('events.0.src'));
    await clock.runUntil(1_000);
    const answer = await settled(inside(() => publish('events.0.src')));
    assert.equal(answer.kind, 'no_leader');
    await clock.runUntil(6_000);
    assert.equal((await settled(inside(() => publish('events.0.src')))).kind, 'stored');
    assert.equal(await Promise.race([silent, Promise.resolve('no answer')]), 'no answer');
  });
});
