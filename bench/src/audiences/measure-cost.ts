import { openDice } from '../../../server/testing/compute/dice.ts';
import { round } from '../spread.ts';
import { appendCalls } from './append-events.ts';
import type { Cpu, Installation, Shop } from './installation.ts';
import { REPEATED_EVERY, shopCall, type ShopCall } from './shop.ts';
import { waitFor } from './wait-for.ts';

export type Size = { users: number; events: number };
export type Cost = Size & {
  /** CPU of an event, from its stream to its last change, until nothing waits anywhere. */
  cpuUs: Cpu & { all: number };
  eventsPerSecond: number;
  transitionsPerEvent: number;
  profileBytes: number;
  timerBytes: number;
  membershipBytes: number;
  changeBytes: number;
  stateBytes: number;
  databaseGb: number;
};

/** Events wait in the streams when two compute processes start: the CPU time until all of them are folded. */
export async function measureCost(stack: Installation, shop: Shop, size: Size): Promise<Cost> {
  const { users, events } = size;
  const dice = openDice(7);
  let before: ShopCall | undefined;
  const call = (number: number, at: number) => {
    const isAgain = number % REPEATED_EVERY === 1 && before !== undefined;
    return (before = isAgain && before !== undefined ? before : shopCall(dice, number, { users, at }));
  };
  // A reader begins at the end of its stream: the events come while it is away.
  await stack.startComputing();
  await waitFor(async () => (await positionsOf(stack)).length === 2);
  await stack.stopComputing();
  await appendCalls(stack.nats.url, shop, { count: events, call });
  console.log(`${events} events of ${users} users are stored`);
  await stack.startComputing();
  const [cpu, startedAt] = [stack.cpu(), performance.now()];
  await waitFor(() => isFolded(stack));
  const seconds = (performance.now() - startedAt) / 1_000;
  await waitFor(() => isTold(stack));
  const spent = stack.cpu();
  const us = (of: keyof Cpu) => round((spent[of] - cpu[of]) / events);
  const [compute, postgres, nats] = [us('compute'), us('postgres'), us('nats')];
  const cpuUs = { compute, postgres, nats, all: round(compute + postgres + nats) };
  const disk = diskOf(stack);
  const { changes, ...bytes } = disk;
  const figures = { ...size, cpuUs, eventsPerSecond: Math.round(events / seconds), ...bytes };
  return { ...figures, transitionsPerEvent: round(changes / events) };
}

function positionsOf({ store }: Installation): Promise<{ sequence: number }[]> {
  const sql = `SELECT sequence::float8 AS sequence FROM compute_positions WHERE stream LIKE 'EVENTS%' AND sequence IS NOT NULL`;
  return store.asSystem((tx) => tx.query(sql));
}

async function isFolded(stack: Installation): Promise<boolean> {
  const { nats } = stack;
  const answer = await fetch(`${nats.nodes[0]?.monitorUrl}/jsz?accounts=true&streams=true`);
  type Jsz = { account_details: { stream_detail: { name: string; state: { last_seq: number } }[] }[] };
  const { account_details: accounts } = (await answer.json()) as Jsz;
  const ends = accounts
    .flatMap(({ stream_detail: streams }) => streams)
    .filter(({ name }) => name.startsWith('EVENTS'));
  const read = (await positionsOf(stack)).reduce((sum, { sequence }) => sum + sequence, 0);
  return read >= ends.reduce((sum, { state }) => sum + state.last_seq, 0);
}

async function isTold({ store }: Installation): Promise<boolean> {
  return (await store.asSystem((tx) => tx.query('SELECT 1 AS one FROM compute_outbox LIMIT 1'))).length === 0;
}

type Disk = Pick<
  Cost,
  'profileBytes' | 'timerBytes' | 'membershipBytes' | 'changeBytes' | 'stateBytes' | 'databaseGb'
> & { changes: number };

/** Bytes of a row with its share of the indexes; history has a table for each day. */
function diskOf({ postgres }: Installation): Disk {
  const bytesOf = (table: string) =>
    `(SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname ~ '^${table}(_[0-9]+)?$')
      / greatest((SELECT count(*) FROM ${table}), 1)`;
  const sql = `SELECT row_to_json(f) FROM (SELECT round(${bytesOf('profiles')}) AS "profileBytes",
    round(${bytesOf('profile_timers')}) AS "timerBytes", round(${bytesOf('memberships')}) AS "membershipBytes",
    round(${bytesOf('membership_changes')}) AS "changeBytes", (SELECT round(avg(length(state))) FROM profiles) AS "stateBytes",
    (SELECT count(*) FROM membership_changes) AS changes,
    round(pg_database_size(current_database()) / 1e9, 2) AS "databaseGb") AS f`;
  return JSON.parse(postgres.run(sql)) as Disk;
}
