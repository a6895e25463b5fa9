import type { Attempt } from '../attempt/attempt.ts';
import type { Standing } from '../client/pace.ts';
import type { Delivery } from '../../domain/delivery.ts';
import {
  concurrencyOf,
  type Gate,
  isShut,
  learn,
  newGate,
  reopen,
  scarceConcurrency,
  type Shut,
  standingOf,
  takeToken,
} from './gate.ts';
import {
  handBackAll,
  handBackFresh,
  handBackLate,
  handBackWithdrawn,
  isTooLong,
  type Job,
  type Line,
  newLine,
  pick,
  waitingIn,
} from './line.ts';
import { openSlots, type Slots } from './slots.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Worked } from './worked.ts';
import type { YieldingWindow } from './yielding-window.ts';

export type Dispatcher = {
  /** A new delivery: attempted now, or after a short wait, or handed back. */
  offer(job: Job): void;
  /** One from a lane, by the holder of its ticket: goes when nothing new wants to, waits as long as it takes. */
  offerBacklog(job: Job): void;
  /** The one attempt that is made while the gate is shut, to see whether the receiver is back. */
  probe(job: Job): void;
  gateOf(destinationId: string): Gate;
  /** What others learned. */
  shut(destinationId: string, shut: Shut): void;
  reopen(destinationId: string): void;
  /** Attempts that hold a slot. */
  inFlight(): number;
  /** Attempts that are late, and have left their slot to others. */
  late(): number;
  waiting(): number;
  /** Hands everything back that has not been started, and starts nothing any more. */
  stop(): void;
};

export type DispatcherNeeds = {
  attempt(delivery: Delivery, webhook: Webhook, standing: Standing): Promise<Attempt>;
  peers(): number;
  /** The gate was shut or opened by what its receiver answered to this process. */
  learned(gate: Gate, webhook: Webhook): void;
  /** What all processes know together about receivers that work; without it, what this one learned. */
  worked?: Pick<Worked, 'isKnown' | 'note'>;
  /** How many attempts of long backlogs may be under way; without it, as many as there are slots. */
  window?: Pick<YieldingWindow, 'room'>;
  /** By the engine's clock: until when a gate is shut is known to all processes. */
  now(): number;
  /** Monotonic, for everything that is waited for in this process. */
  uptimeMs(): number;
  maxInFlight: number;
};

type State = {
  needs: DispatcherNeeds;
  lines: Map<string, Line>;
  /** Lines in which something waits. */
  busy: Set<Line>;
  /** Those of them that may be able to start something, each once, in the order of their turns. */
  ready: Line[];
  slots: Slots;
  /** Attempts that are part of a long backlog, and the lines that wait for room for one, in turn. */
  long: number;
  outside: Line[];
  isStopped: boolean;
  sweeper: NodeJS.Timeout | undefined;
};

const SWEEP_MS = 50;
const IDLE_GATE_MS = 600_000;

/**
 * Decides which delivery is attempted next: bounded slots in all, a bounded share for each standing and each destination, and
 * destinations in turn. A delivery waits in the line of its destination, is started with a slot (see `slots.ts`), or is handed
 * back. Answers move lines on; `sweep` does what no answer sets in motion.
 */
export function openDispatcher(needs: DispatcherNeeds): Dispatcher & Disposable {
  const empty = { lines: new Map(), busy: new Set<Line>(), ready: [], outside: [], long: 0, isStopped: false };
  const slots = openSlots(needs.maxInFlight, needs.uptimeMs);
  const state: State = { needs, slots, ...empty, sweeper: undefined };
  const forgetter = setInterval(() => forgetIdle(state), IDLE_GATE_MS / 10);
  return {
    offer: (job) => offer(state, job),
    offerBacklog: (job) => offerBacklog(state, job),
    probe: (job) => probe(state, job),
    gateOf: (destinationId) => lineOf(state, destinationId).gate,
    shut(destinationId, shut) {
      const line = lineOf(state, destinationId);
      line.gate.shut = shut;
      handBackAll(line);
    },
    reopen: (destinationId) => reopen(state.lines.get(destinationId)?.gate),
    inFlight: state.slots.inUse,
    late: state.slots.late,
    waiting: () => state.busy.values().reduce((sum, line) => sum + line.fresh.length, 0),
    stop() {
      state.isStopped = true;
      for (const line of state.busy) handBackAll(line);
    },
    [Symbol.dispose]() {
      stopSweeping(state);
      clearInterval(forgetter);
    },
  };
}

function offer(state: State, job: Job): void {
  const { needs } = state;
  const line = lineOf(state, job.webhook.destinationId);
  const isClosed =
    state.isStopped || job.webhook.isPaused || isShut(line.gate, needs.now()) || isCrowdedOut(state, line.gate);
  if (isClosed || isTooLong(line, job.webhook, needs.peers())) {
    job.finish(undefined);
    return;
  }
  line.fresh.push({ job, since: needs.uptimeMs() });
  startOrKeep(state, line);
}

/** Without a free slot it is not made: the bound of a process holds for probes too, and the lane is looked at again. */
function probe(state: State, job: Job): void {
  if (state.isStopped || !state.slots.hasRoom('failing')) job.finish(undefined);
  else start(state, lineOf(state, job.webhook.destinationId), job);
}

function offerBacklog(state: State, job: Job): void {
  const line = lineOf(state, job.webhook.destinationId);
  if (state.isStopped || isShut(line.gate, state.needs.now())) {
    job.finish(undefined);
    return;
  }
  line.backlog.push(job);
  startOrKeep(state, line);
}

/** Most start at once; a line in which something is left waits to be swept. */
function startOrKeep(state: State, line: Line): void {
  markReady(state, line);
  pump(state);
  if (waitingIn(line) === 0) return;
  state.busy.add(line);
  keepSweeping(state);
}

function lineOf({ lines, needs }: State, destinationId: string): Line {
  const known = lines.get(destinationId);
  if (known !== undefined) return known;
  const line = newLine(newGate(destinationId, needs.uptimeMs(), needs.worked?.isKnown(destinationId)));
  lines.set(destinationId, line);
  return line;
}

function start(state: State, line: Line, job: Job): void {
  const { needs, slots } = state;
  const { gate } = line;
  const standing = standingOf(gate, needs.now());
  const slot = slots.take(gate, standing);
  gate.inFlight += 1;
  gate.usedAt = needs.uptimeMs();
  keepSweeping(state);
  if (job.isLong === true) state.long += 1;
  const free = () => {
    gate.inFlight -= 1;
    slots.free(slot);
    if (job.isLong === true) leaveWindow(state);
    markReady(state, line);
    pump(state);
  };
  void needs.attempt(job.delivery, job.webhook, standing).then((made) => {
    const learned = learn(gate, made, { now: needs.now(), fairMs: slots.now() });
    if (learned === 'shut') handBackAll(line);
    if (learned !== undefined) needs.learned(gate, job.webhook);
    if (gate.answeredAt >= slot.since) needs.worked?.note(gate.destinationId);
    job.finish(made);
    if (made.rest === undefined) return free();
    slots.answered(slot);
    void made.rest.then(free);
  });
}

/** Whoever has waited longest for room comes before the line that made it. */
function leaveWindow(state: State): void {
  state.long -= 1;
  const next = state.outside.shift();
  if (next === undefined) return;
  next.isOutside = false;
  markReady(state, next);
}

function isAdmitted({ needs, long, outside }: State, line: Line): boolean {
  if (needs.window?.room(long) !== 0) return true;
  if (!line.isOutside) outside.push(line);
  line.isOutside = true;
  return false;
}

function markReady({ ready }: State, line: Line): void {
  if (line.isReady || waitingIn(line) === 0) return;
  line.isReady = true;
  ready.push(line);
}

/** Gives each line that is ready one start, round after round, until nobody can start or no slot is left. */
function pump(state: State): void {
  while (state.ready.length > 0 && hasSlot(state)) {
    const turns = state.ready;
    state.ready = [];
    for (const [index, line] of turns.entries()) {
      if (!hasSlot(state)) {
        // Who had no turn comes before those who had one.
        state.ready = [...turns.slice(index), ...state.ready];
        return;
      }
      giveTurn(state, line);
    }
  }
}

function giveTurn(state: State, line: Line): void {
  line.isReady = false;
  handBackWithdrawn(line);
  const job = pick(line, (candidate, isBacklog) => canStart(state, line, { job: candidate, isBacklog }));
  if (job === undefined) return;
  start(state, line, job);
  markReady(state, line);
}

function hasSlot({ slots, needs }: State): boolean {
  return slots.inUse() < needs.maxInFlight;
}

/**
 * New deliveries of a failing receiver do not wait for a slot that others like it hold for seconds, and those of one that seems
 * to hang do not wait in memory while slots are scarce. One that nothing is known about waits: its turn comes soon.
 */
function isCrowdedOut({ slots, needs }: State, gate: Gate): boolean {
  if (standingOf(gate, needs.now()) !== 'failing') return false;
  return !slots.hasRoom('failing') || (gate.isDoubted && slots.isScarce());
}

function canStart(state: State, line: Line, { job, isBacklog }: { job: Job; isBacklog: boolean }): boolean {
  const { needs, slots } = state;
  const { gate } = line;
  const { webhook } = job;
  if (!slots.hasRoom(standingOf(gate, needs.now()))) return false;
  const peers = needs.peers();
  const shared = concurrencyOf(gate, webhook, peers);
  // A limit too small to be divided is kept whole by the one who holds the lane's ticket.
  const most = shared === 0 && isBacklog ? (webhook.maxConcurrency ?? 1) : shared;
  if (gate.inFlight >= most || (slots.isScarce() && gate.inFlight >= scarceConcurrency(gate, slots.now())))
    return false;
  if (job.isLong === true && !isAdmitted(state, line)) return false;
  const rate = webhook.maxPerSecond === undefined ? undefined : webhook.maxPerSecond / peers;
  return takeToken(gate, rate, needs.uptimeMs());
}

function keepSweeping(state: State): void {
  state.sweeper ??= setInterval(() => sweep(state), SWEEP_MS);
}

/** For what no answer sets in motion: late attempts, patience that is over, budgets that have grown, gates shut by others. */
function sweep(state: State): void {
  const { slots, needs } = state;
  const uptimeMs = needs.uptimeMs();
  slots.findLate();
  for (const line of state.busy) {
    if (state.isStopped || isShut(line.gate, needs.now())) handBackAll(line);
    if (isCrowdedOut(state, line.gate)) handBackFresh(line);
    handBackLate(line, uptimeMs);
    handBackWithdrawn(line);
    if (waitingIn(line) === 0) state.busy.delete(line);
    else markReady(state, line);
  }
  pump(state);
  if (state.busy.size === 0 && slots.watched() === 0) stopSweeping(state);
}

function stopSweeping(state: State): void {
  clearInterval(state.sweeper);
  state.sweeper = undefined;
}

/** A gate that is shut is not idle: forgotten, it would be open. */
function forgetIdle({ lines, busy, needs }: State): void {
  const now = needs.now();
  for (const [id, line] of lines) {
    const isIdle = line.gate.inFlight === 0 && !busy.has(line) && !isShut(line.gate, now);
    if (isIdle && line.gate.usedAt < needs.uptimeMs() - IDLE_GATE_MS) lines.delete(id);
  }
}
