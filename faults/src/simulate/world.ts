/** One simulated installation: engine, record, receivers, and processes that start, crash, pause and stop. */
import type { StreamSettings } from '../../../server/src/stream/layout/layout.ts';
import { seededRandom, type Random } from '../seeded-random.ts';
import { type ModelEngine, openModelEngine } from './engine/model-engine.ts';
import { type ModelRecord, openModelRecord } from './model-record.ts';
import { openOracle, type Oracle, type SimDestination } from './oracle.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import type { Plant } from './plants.ts';
import { type ModelOutbox, openModelOutbox } from './model-outbox.ts';
import { forgetConnections, playDeliver, playProject, playRecord, type RoleNeeds } from './start-roles.ts';
import { openTrace, type Trace } from './trace.ts';
import { openVirtualClock, running, type VirtualClock, type VirtualProcess } from './clock/virtual-clock.ts';
import { watchLeases } from './watch-leases.ts';

export type Played = {
  role: 'deliver' | 'record' | 'project';
  process: VirtualProcess;
  life: Promise<AsyncDisposable | undefined>;
};

export type World = {
  clock: VirtualClock;
  random: Random;
  engine: ModelEngine;
  record: ModelRecord;
  outbox: ModelOutbox;
  receivers: Receivers;
  oracle: Oracle;
  trace: Trace;
  needs: RoleNeeds;
  destinations: readonly SimDestination[];
  /** The processes that live. */
  played: Set<Played>;
  /** A process of its own for what the simulation itself does. */
  self: VirtualProcess;
  start(role: Played['role']): Played;
  /** SIGKILL. */
  crash(played: Played): void;
  /** SIGTERM: resolves when the process has ended. */
  stop(played: Played): Promise<void>;
};

export type WorldNeeds = {
  seed: number;
  destinations: readonly SimDestination[];
  retryScale: number;
  plant?: Plant | undefined;
};

export const STREAMS: StreamSettings = {
  replicas: 3,
  eventStreams: 2,
  laneStreams: 2,
  outcomeStreams: 1,
  retentionMs: 86_400_000,
  dedupWindowMs: 600_000,
};
/** A day in 2026; no run depends on the real date. */
const STARTS_AT = Date.UTC(2026, 5, 1, 12);

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openWorld({ seed, destinations, retryScale, plant }: WorldNeeds): World {
  forgetConnections();
  const trace = openTrace();
  const random = seededRandom(seed);
  const clock = openVirtualClock({
    startsAt: STARTS_AT,
    watch: ({ owner, at }) => trace.ran(owner.name, at),
    failed: (process, error) => oracle.blame('uncaught', `${process.name}: ${stackOf(error)}`),
  });
  const oracle = openOracle(clock.now, destinations);
  const engine = openModelEngine({ clock, seed: seed ^ 0x5eed, settings: STREAMS });
  const self = clock.start('self', random.next);
  const record = openModelRecord(clock, seededRandom(seed ^ 0xda7a));
  const outbox = openModelOutbox(clock, seededRandom(seed ^ 0x0b0c), record.mood);
  const arrived: Oracle['arrived'] = (arrival) => {
    trace.note(`post ${arrival.by} ${arrival.deliveryId} ${arrival.isGood}`);
    oracle.arrived(arrival);
  };
  const receivers = openReceivers({ clock, random: seededRandom(seed ^ 0xcafe), process: self, arrived });
  const leases = watchLeases((about) => oracle.blame('two holders', about));
  const needs = { engine, settings: STREAMS, receivers, record, outbox, leases, retryScale, plant };
  const played = new Set<Played>();
  let started = 0;

  const world: World = {
    clock,
    random,
    engine,
    record,
    outbox,
    receivers,
    oracle,
    trace,
    needs,
    destinations,
    played,
    self,
    start(role) {
      started += 1;
      const process = clock.start(`${role}${started}`, seededRandom(seed ^ (started * 7_919)).next);
      process.aheadMs = Math.round(random.between(-1_500, 1_500));
      const play = { deliver: playDeliver, record: playRecord, project: playProject }[role];
      trace.note(`start ${process.name}`);
      const life = running.run(process, () =>
        // A process that cannot start ends, and its manager starts it again.
        play(process, needs).catch(() => {
          if (!played.has(one)) return undefined;
          world.crash(one);
          world.start(role);
          return undefined;
        }),
      );
      const one: Played = { role, process, life };
      played.add(one);
      return one;
    },
    crash(one) {
      trace.note(`crash ${one.process.name}`);
      played.delete(one);
      clock.kill(one.process);
      for (const connection of engine.connections) if (connection.owner === one.process) connection.close();
    },
    async stop(one) {
      trace.note(`stop ${one.process.name}`);
      played.delete(one);
      const life = await one.life;
      if (life !== undefined) await running.run(one.process, () => life[Symbol.asyncDispose]());
      world.crash(one);
    },
  };
  return world;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
