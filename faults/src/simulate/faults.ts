/** Faults, each by its own dice: a run without one kind has the others at the same times. */
import { seededRandom, type Random } from '../seeded-random.ts';
import { changeConfig } from './change-config.ts';
import { CALM } from './engine/model-engine.ts';
import { MANNERS } from './receivers.ts';
import type { Played, World } from './world.ts';

/** Begins a fault; returns how it ends. `disturbs`: a delivery may come twice because of it. */
type Fault = {
  meanGapMs: number;
  lastsMs: readonly [number, number];
  disturbs: boolean;
  begin(world: World, random: Random): () => void;
};

const nothing = () => undefined;

function pickPlayed(world: World, role: Played['role'], random: Random): Played | undefined {
  const [first, ...others] = [...world.played].filter((each) => each.role === role && each.process.state === 'up');
  return first === undefined ? undefined : random.pick([first, ...others]);
}

function crashOne(role: Played['role']): Fault['begin'] {
  return (world, random) => {
    const one = pickPlayed(world, role, random);
    if (one === undefined) return nothing;
    world.crash(one);
    return () => world.start(role);
  };
}

/** Leaders on a server that dies move; an election takes four to eight seconds. Its connections and watches end. */
function killServer(world: World, random: Random): () => void {
  const { engine } = world;
  const up = engine.servers.flatMap(({ isUp }, index) => (isUp ? [index] : []));
  if (up.length < 3) return nothing;
  const index = random.pick([0, 1, 2]);
  const server = engine.servers[index];
  if (server === undefined) return nothing;
  server.isUp = false;
  world.trace.note(`kill n${index}`);
  for (const { group } of [...engine.streams.values(), ...engine.consumers.values()])
    if (group.leader() === index) group.elect(random.between(50, 2_000), random.between(4_000, 8_000));
  for (const { pushes } of engine.streams.values())
    for (const push of pushes) if (push.server === index) pushes.delete(push);
  for (const connection of engine.connections) if (connection.server() === index) connection.cut();
  return () => (server.isUp = true);
}

/** A leader steps down: the others elect one within a second. */
function moveLeader(world: World, random: Random): () => void {
  const groups = [...world.engine.streams.values(), ...world.engine.consumers.values()].map(({ group }) => group);
  const [first, ...others] = groups;
  if (first === undefined) return nothing;
  const group = random.pick([first, ...others]);
  world.trace.note(`elect ${group.name}`);
  if (group.leader() !== undefined) group.elect(random.between(0, 300), random.between(60, 1_500));
  return nothing;
}

/** Engine fact: the leader of a consumer gives out what its own copy of the stream has, and that may be behind for a minute. */
function leaveBehind({ engine, trace }: World, random: Random): () => void {
  const [first, ...others] = [...engine.consumers.values()];
  if (first === undefined) return nothing;
  const { consumer } = random.pick([first, ...others]);
  trace.note(`behind ${consumer.stream}/${consumer.name}`);
  consumer.setBehind(true);
  return () => consumer.setBehind(false);
}

function pauseOne(world: World, random: Random): () => void {
  const one = pickPlayed(world, random.pick(['deliver', 'deliver', 'record', 'project']), random);
  if (one === undefined) return nothing;
  world.trace.note(`pause ${one.process.name}`);
  world.clock.pause(one.process);
  return () => world.clock.resume(one.process);
}

function stopOne(world: World, random: Random): () => void {
  const one = pickPlayed(world, 'deliver', random);
  if (one === undefined) return nothing;
  void world.stop(one);
  return () => world.start('deliver');
}

function cutConnection(world: World, random: Random): () => void {
  const [first, ...others] = [...world.engine.connections];
  if (first !== undefined) random.pick([first, ...others]).cut();
  return nothing;
}

function setMood(change: Partial<World['engine']['mood']>): Fault['begin'] {
  return ({ engine }) => {
    Object.assign(engine.mood, change);
    const names = Object.keys(change) as (keyof typeof CALM)[];
    return () => {
      for (const name of names) engine.mood[name] = CALM[name];
    };
  };
}

function setDatabase(change: Partial<World['record']['mood']>): Fault['begin'] {
  return ({ record }) => {
    Object.assign(record.mood, change);
    return () => Object.assign(record.mood, { isAway: false, lostAnswers: 0 });
  };
}

function behave(world: World, random: Random): () => void {
  const [first, ...others] = world.destinations;
  if (first === undefined) return nothing;
  const { host } = new URL(random.pick([first, ...others]).url);
  world.receivers.behave(host, random.pick(MANNERS));
  return () => world.receivers.behave(host, 'ok');
}

function setClock(world: World, random: Random): () => void {
  for (const { process } of world.played)
    if (random.next() < 0.5) process.aheadMs = random.between(-3_600_000, 3_600_000);
  return nothing;
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'deliver-crash': { meanGapMs: 60_000, lastsMs: [500, 20_000], disturbs: true, begin: crashOne('deliver') },
  'deliver-pause': { meanGapMs: 90_000, lastsMs: [1_000, 40_000], disturbs: true, begin: pauseOne },
  'deliver-stop': { meanGapMs: 120_000, lastsMs: [100, 5_000], disturbs: false, begin: stopOne },
  'record-crash': { meanGapMs: 120_000, lastsMs: [500, 20_000], disturbs: false, begin: crashOne('record') },
  'project-crash': { meanGapMs: 90_000, lastsMs: [500, 20_000], disturbs: false, begin: crashOne('project') },
  'server-kill': { meanGapMs: 120_000, lastsMs: [2_000, 20_000], disturbs: true, begin: killServer },
  election: { meanGapMs: 30_000, lastsMs: [2_000, 2_001], disturbs: true, begin: moveLeader },
  'connection-cut': { meanGapMs: 40_000, lastsMs: [1_000, 1_001], disturbs: true, begin: cutConnection },
  'acks-lost': { meanGapMs: 90_000, lastsMs: [500, 15_000], disturbs: true, begin: setMood({ lostAcks: 0.5 }) },
  'slow-network': {
    meanGapMs: 120_000,
    lastsMs: [1_000, 30_000],
    disturbs: true,
    begin: setMood({ latencyMs: 1_200 }),
  },
  'slow-disk': { meanGapMs: 120_000, lastsMs: [1_000, 30_000], disturbs: true, begin: setMood({ commitMs: 700 }) },
  'replica-behind': {
    meanGapMs: 60_000,
    lastsMs: [5_000, 60_000],
    disturbs: true,
    begin: setMood({ behindMs: 4_000 }),
  },
  'consumer-behind': { meanGapMs: 60_000, lastsMs: [5_000, 60_000], disturbs: false, begin: leaveBehind },
  'database-away': {
    meanGapMs: 120_000,
    lastsMs: [1_000, 60_000],
    disturbs: false,
    begin: setDatabase({ isAway: true }),
  },
  'database-answers-lost': {
    meanGapMs: 120_000,
    lastsMs: [1_000, 30_000],
    disturbs: false,
    begin: setDatabase({ lostAnswers: 0.3 }),
  },
  receivers: { meanGapMs: 20_000, lastsMs: [1_000, 240_000], disturbs: false, begin: behave },
  clocks: { meanGapMs: 120_000, lastsMs: [1_000, 1_001], disturbs: false, begin: setClock },
  config: { meanGapMs: 40_000, lastsMs: [1_000, 90_000], disturbs: false, begin: changeConfig },
};

export type FaultRun = { injected(): number; isOver(): boolean };

/** `haste`: how many times more often than usual. `pace`: how many times longer everything takes. */
export type FaultPlan = { seed: number; kinds: readonly string[]; untilMs: number; haste: number; pace: number };

/** Faults of these kinds until a time. */
export function injectFaults(world: World, { seed, kinds, untilMs, haste, pace }: FaultPlan): FaultRun {
  let injected = 0;
  let open = 0;
  for (const kind of kinds) {
    const fault = FAULTS[kind];
    if (fault === undefined) throw new Error(`there is no fault called ${kind}`);
    const random = seededRandom(seed ^ nameNumber(kind));
    const gapMs = () => random.between(0, (fault.meanGapMs * 2) / haste) * pace;
    const begin = () => {
      if (world.clock.now() > untilMs) return;
      injected += 1;
      open += 1;
      const lastsMs = random.between(...fault.lastsMs) * pace;
      const disturbance = { kind, from: world.clock.now(), to: Infinity };
      if (fault.disturbs) world.oracle.disturbances.push(disturbance);
      world.trace.note(`fault ${kind} ${Math.round(lastsMs)}`);
      const end = fault.begin(world, random);
      world.clock.after(lastsMs, world.self, () => {
        end();
        open -= 1;
        disturbance.to = world.clock.now();
      });
      world.clock.after(gapMs(), world.self, begin);
    };
    world.clock.after(gapMs(), world.self, begin);
  }
  return { injected: () => injected, isOver: () => open === 0 };
}

function nameNumber(name: string): number {
  return Buffer.from(name).reduce((sum, byte) => Math.imul(sum, 31) + byte, 7) >>> 0;
}
