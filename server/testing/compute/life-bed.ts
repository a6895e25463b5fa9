/**
 * Compute processes over a real PostgreSQL and streams in memory: the bed keeps their calls, and an oracle sees the same events. Devices
 * belong to one user each, so the order in which the processes read makes no difference.
 */
import assert from 'node:assert/strict';
import type { AcceptedEvent } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';
import type { SendingTransition } from '../../src/compute/profiles/profile-store.ts';
import { startCompute } from '../../src/compute/start-compute.ts';
import { readRequest } from '../../src/domain/read-request.ts';
import { openLog } from '../../src/log.ts';
import { openMetrics } from '../../src/metrics/open-metrics.ts';
import { insertSource } from '../../src/store/sources.ts';
import { createDefinition, type DefinitionToAdd } from '../definitions.ts';
import { openProfileBed, WORKSPACE } from '../profile-store.ts';
import { until } from '../until.ts';
import { openMemoryStreams } from './memory-streams.ts';
import { openOracle } from './oracle.ts';

export const STREAMS = ['EVENTS-0', 'EVENTS-1'];
export const SOURCES = ['src_1', 'src_2'];

export type Told = {
  definition: string;
  kind: 'user' | 'anonymous';
  user: string;
  value: unknown;
  sequence: number;
  messageId: string;
  to: string[];
};
export type LifeBed = Awaited<ReturnType<typeof openLifeBed>>;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openLifeBed() {
  await using opening = new AsyncDisposableStack();
  const bed = opening.use(await openProfileBed());
  bed.server.run(
    'DELETE FROM definitions; DELETE FROM compute_workspaces; UPDATE compute_version SET version = version + 1',
  );
  await bed.store.asSystem(async (tx) => {
    for (const id of SOURCES) await insertSource(tx, { workspaceId: WORKSPACE, id, name: id });
  });
  const streams = openMemoryStreams(STREAMS);
  const sent: { sourceId: string; event: AcceptedEvent }[] = [];
  const told: Told[] = [];
  const open = opening.move();

  async function append(request: { envelope: string; body: Uint8Array }) {
    const read = readRequest(request.envelope, request.body);
    if (!read.ok) throw new Error('the relay stores what can be read');
    for (const { userId, anonymousId, traits, context, messageId } of read.value.events) {
      const {
        computation_id: definition,
        computation_key: key,
        sequence,
      } = (context as { personas: never })['personas'];
      const to = [...(read.value.computed?.destinations ?? [])];
      const value = (traits as Record<string, unknown>)[key as string];
      const kind = userId === undefined ? 'anonymous' : 'user';
      told.push({ definition, kind, user: String(userId ?? anonymousId), value, sequence, messageId, to });
    }
    return Promise.resolve({ ok: true as const });
  }

  return {
    ...bed,
    streams,
    told,
    /** Transitions that were sent past the relay of a process. */
    hear(transitions: readonly SendingTransition[]): void {
      for (const { definitionId, kind, id, value, sequence, key, destinations } of transitions) {
        const messageId = `${definitionId} ${key} ${sequence}`;
        told.push({ definition: definitionId, kind, user: id, value, sequence, messageId, to: destinations });
      }
    },
    /** A compute process. */
    start: () =>
      startCompute({
        settings: { databaseUrl: urlOf(bed.server.serviceUrl) },
        side: streams.side(2),
        append: append as never,
        metrics: openMetrics(),
        log: openLog({ level: 'fatal', pretty: false }),
      }),
    send(stream: string, sourceId: string, events: AcceptedEvent[]): void {
      streams.append(stream, sourceId, events);
      for (const event of events) sent.push({ sourceId, event });
    },
    create: (added: Omit<DefinitionToAdd, 'workspaceId'>) =>
      createDefinition(bed.store, { workspaceId: WORKSPACE, ...added }),
    sql: <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
      bed.store.asSystem((tx) => tx.query<Row>(text, values)),
    /** Resolves when the processes have committed something. */
    async somethingRead(): Promise<void> {
      const beats = async () => JSON.stringify(await bed.profiles.positions());
      const before = await beats();
      await until(async () => (await beats()) !== before);
    },
    /** Resolves when everything is read, every definition is at rest and everything is sent. */
    async quiet(): Promise<void> {
      const busy = `SELECT 1 AS one FROM definitions WHERE state NOT IN ('live', 'deleted')
        UNION ALL SELECT 1 FROM definition_versions e JOIN definitions d ON d.number = e.definition
          WHERE e.phase IS NOT NULL AND e.state <> 'replaced' AND d.state <> 'deleted'
        UNION ALL SELECT 1 FROM definition_syncs UNION ALL SELECT 1 FROM compute_outbox`;
      const positions = `SELECT stream, sequence::int FROM compute_positions WHERE stream = ANY ($1)`;
      const all = () =>
        bed.store.asSystem((tx) => tx.query<{ stream: string; sequence: number }>(positions, [STREAMS]));
      await until(async () => {
        const rows = await all();
        if (rows.length < STREAMS.length || !rows.every(({ stream, sequence }) => sequence === streams.last(stream)))
          return false;
        return (await bed.store.asSystem((tx) => tx.query(busy))).length === 0;
      }, 120_000);
    },
    /** Fails unless every membership is the one of the oracle, and every receiver could know it. */
    async check(definitions: readonly { id: string; definition: Definition }[]): Promise<void> {
      const rows = await bed.store.asSystem((tx) =>
        tx.query<{ id: string; number: number }>(`SELECT id, number FROM definitions WHERE state = 'live'`),
      );
      const numbers = new Map(rows.map(({ id, number }) => [id, number]));
      const oracle = openOracle();
      const all = definitions.map(({ id, definition }) => {
        const number = numbers.get(id) ?? -1;
        return {
          number,
          id,
          definition,
          changed: 1,
          changeCause: 'backfill' as const,
          isLeaving: false,
          since: () => 0,
        };
      });
      oracle.define(all, 1);
      for (const { sourceId, event } of sent) oracle.receive({ workspaceId: WORKSPACE, sourceId, event });
      const now = streams.now() - 5_000;
      oracle.scan(now);
      oracle.pass(now);
      assert.deepEqual(await members(bed), oracle.values());
      checkTold(told, await members(bed), numbers);
    },
    async [Symbol.asyncDispose]() {
      await open.disposeAsync();
    },
  };
}

/** So that the connections of the processes can be told from those of the test. */
export const COMPUTE_LOGIN = 'compute under test';

function urlOf(serviceUrl: string): string {
  const url = new URL(serviceUrl);
  url.searchParams.set('application_name', COMPUTE_LOGIN);
  return url.href;
}

async function members({ store }: Pick<Awaited<ReturnType<typeof openProfileBed>>, 'store'>) {
  const sql = `SELECT CASE WHEN p.is_user THEN 'user ' ELSE 'anonymous ' END || p.id || ' ' || m.definition AS name, m.value
    FROM memberships m JOIN profiles p ON p.profile_key = m.profile_key`;
  const rows = await store.asSystem((tx) => tx.query<{ name: string; value: string | null }>(sql));
  const entries = rows.map(
    ({ name, value }) => [name, value === null ? true : (JSON.parse(value) as unknown)] as const,
  );
  return new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A repeat has a known id, sequences grow, and the last one says what is so. */
function checkTold(
  told: readonly Told[],
  held: ReadonlyMap<string, unknown>,
  numbers: ReadonlyMap<string, number>,
): void {
  const last = new Map<string, Told>();
  const ids = new Map<string, string>();
  for (const each of told) {
    const pair = `user ${each.user} ${numbers.get(each.definition) ?? each.definition}`;
    assert.equal(each.kind, 'user', 'no definition includes anonymous profiles');
    const before = last.get(pair);
    const at = `${pair} ${each.sequence}`;
    assert.equal(ids.get(at) ?? each.messageId, each.messageId, 'a repeat has the id that is known');
    ids.set(at, each.messageId);
    if (before === undefined || each.sequence >= before.sequence) last.set(pair, each);
  }
  for (const number of numbers.values()) {
    for (const [pair, { value }] of last) {
      // Receivers are told nothing about an id that has become part of another user.
      if (!pair.endsWith(` ${number}`) || pair.startsWith('user p')) continue;
      const isMember = held.has(pair);
      assert.deepEqual(
        isMember ? held.get(pair) : [false, null].includes(value as null),
        isMember ? value : true,
        pair,
      );
    }
    for (const [pair, value] of held) {
      if (pair.startsWith('user ') && pair.endsWith(` ${number}`)) assert.deepEqual(last.get(pair)?.value, value, pair);
    }
  }
}
