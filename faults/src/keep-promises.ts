import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS } from './catalog.ts';
import { runFault } from './run-fault.ts';

/** Names the tests: each says what Millrace still does under that fault. */
export const PROMISES: Readonly<Record<string, string>> = {
  'collect-kill': 'a collecting process killed at any moment loses nothing and stores nothing twice',
  'leader-kill': 'requests move to the other stream within 1.5 s of a leader that dies, and nothing is lost',
  'all-nodes-kill': 'nothing acknowledged is lost when all servers die at once',
  'nats-stopped': 'clients hear 503 within a second while there is no engine, and are served again by themselves',
  'cut-off-server': 'a server that stops answering is left for another within 8 s',
  'slow-sockets': 'sockets that drip their headers are closed, and nobody else notices them',
  sigterm: 'a process asked to leave ends what it has begun and refuses nobody with an error',
  'database-stopped':
    'collect does not notice that PostgreSQL is gone, control says so, and both go on when it is back',
  'deliver-kill': 'a delivering process killed at any moment loses nothing, and repeats no more than it had under way',
  'deliver-burst-kill':
    'a delivering process killed in a burst repeats nothing that it had acknowledged, and loses nothing',
  'deliver-leader-kill': 'deliveries outlive the leader of any of their streams',
  'deliver-both-kill': 'deliveries outlive leaders and delivering processes that die together',
  'deliver-sigterm': 'a delivering process asked to leave loses nothing and repeats nothing',
  isolation: 'receivers that hang, fail or are flooded are not noticed by those of others',
  'tenant-flood': 'a workspace that fills its shares of storage costs its neighbours no call, no delivery and no time',
  'tenant-limits':
    'a workspace at the limit of everything at once costs another one no call, no delivery, no answer and no time',
  backlog:
    'a backlog for one receiver gathers and drains unnoticed by others, new events first, and its end is foretold',
  'many-lanes': 'many lanes that fall due in the same moment freeze nobody else',
  'hanging-receivers': 'many receivers that never answer cost bounded room, and nobody else anything',
  'hostile-receivers':
    'receivers that answer with floods, bombs and resets cost bounded room, and nobody else anything',
  'quiet-receivers': 'receivers that were silent for long, or are new, do not wait behind hundreds that begin to hang',
  'recorder-stopped':
    'deliveries do not notice that nobody records them, and afterwards the record misses none of them',
  'database-restarted': 'the record is exact to the last attempt when PostgreSQL dies in the middle of it',
  'outcomes-leader-kill': 'the record is exact to the last attempt when servers die that lead its streams',
  'one-recorder-kill':
    'of two processes that record, one dies for long: the other records everything, and the record is exact to the last attempt',
  'clock-skew': 'a wrong clock gives no lane two holders, moves no attempt from its time, and loses nothing',
  poison:
    'what nobody can read, in every stream and of every kind, kills no process, delays nobody and is in quarantine, all of it',
  'mixed-versions':
    'an upgrade from the version before, process by process, and the way back lose nothing and leave nothing stuck',
  'rolling-upgrade':
    'every role goes from the last release to this version and back, under load and with backlogs, and nothing is lost',
  'restore-drill':
    'after the loss of all engines a backup brings back everything that was acknowledged before its point, and delivers it',
  'compute-kill':
    'audiences are those of an uninterrupted run, and the webhook knows them, whatever dies: compute, PostgreSQL, its disk, a leader',
  'compute-behind':
    'collect takes every call while nothing computes, and definitions say since when events are missing in them',
  'sign-in-attack':
    'while guessers try passwords from 200 addresses, people sign in within a second, and control takes less than a core',
  'server-added':
    'a server that joins the cluster under load adds room and leads streams without a restart of any process, and nothing is lost',
  'cell-lost':
    'the loss of a cell is not noticed by the sources of another; its own are collected by its spare, or refused with 503',
  'cell-move': 'a source that moves between cells under load loses nothing, and the other cell does not notice',
  partitions:
    'servers and roles that are cut from each other, in both directions or in one, lose and hide nothing, and go on by themselves when they are healed',
};

const SEED = 1;
const RUN_WITHIN_MS = 120_000;

/** One test for each of these faults, at the size of CI. */
export function testFaults(isMeant: (name: string) => boolean): void {
  for (const [name, fault] of FAULTS) {
    if (!isMeant(name)) continue;
    test(`${name}: ${PROMISES[name]}`, { timeout: 2 * RUN_WITHIN_MS }, async (t) => {
      const runOnce = async () => {
        const report = await runFault({ name, fault, seed: SEED, isFull: false }, (line) => t.diagnostic(line));
        t.diagnostic(JSON.stringify(report));
        assert.deepEqual(report.failures, []);
        return report.late;
      };
      const late = await runOnce();
      // CI shares its machine, and one stall of it is enough to be late. A product that is slow is slow twice.
      if (late.length > 0) assert.deepEqual(await runOnce(), []);
    });
  }
}
