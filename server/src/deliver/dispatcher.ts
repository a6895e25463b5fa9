import type { Attempt } from './attempt.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { concurrencyOf, type Gate, isShut, isWorking, learn, newGate, type Shut, takeToken } from './gate.ts';
import { handBackAll, handBackLate, isTooLong, type Job, type Line, newLine, pick, waitingIn } from './line.ts';
import type { Webhook } from './webhook.ts';
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
  inFlight(): number;
  waiting(): number;
  /** Hands everything back that has not been started, and starts nothing any more. */
  stop(): void;
};

export type DispatcherNeeds = {
  attempt(delivery: Delivery, webhook: Webhook, isWorking: boolean): Promise<Attempt>;
  peers(): number;
  /** The gate was shut or opened by what its receiver answered to this process. */
  learned(gate: Gate, webhook: Webhook): void;
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
  inFlight: number;
  /** Those of them to receivers that have not shown that they work. */
  suspect: number;
  /** Those of them that are part of a long backlog, and the lines that wait for room for one, in turn. */
  long: number;
  outside: Line[];
  isStopped: boolean;
  sweeper: NodeJS.Timeout | undefined;
};

/** Receivers that have not shown that they work share this part of the slots, so the others always find some free. */
const SUSPECT_SHARE = 0.5;
const SWEEP_MS = 50;
const IDLE_GATE_MS = 600_000;

/** Who is attempted next: bounded slots in all, a bounded share for each destination, each in its turn. */
export function openDispatcher(needs: DispatcherNeeds): Dispatcher & Disposable {
  const counts = { inFlight: 0, suspect: 0, long: 0 };
  const empty = { lines: new Map(), busy: new Set<Line>(), ready: [], outside: [], isStopped: false };
  const state: State = { needs, ...counts, ...empty, sweeper: undefined };
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
    reopen(destinationId) {
      const gate = state.lines.get(destinationId)?.gate;
      if (gate?.shut === undefined) return;
      gate.shut = undefined;
      gate.failures = 0;
    },
    inFlight: () => state.inFlight,
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
    state.isStopped || job.webhook.isPaused || isShut(line.gate, needs.now()) || isCrowded(state, line.gate);
  if (isClosed || isTooLong(line, job.webhook, needs.peers())) {
    job.finish(undefined);
    return;
  }
  line.fresh.push({ job, since: needs.uptimeMs() });
  startOrKeep(state, line);
}

/** Without a free slot it is not made: the bound of a process holds for probes too, and the lane is looked at again. */
function probe(state: State, job: Job): void {
  if (state.isStopped || !hasSlot(state)) job.finish(undefined);
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
  state.sweeper ??= setInterval(() => sweep(state), SWEEP_MS);
}

function lineOf({ lines, needs }: State, destinationId: string): Line {
  const known = lines.get(destinationId);
  if (known !== undefined) return known;
  const line = newLine(newGate(destinationId, needs.uptimeMs()));
  lines.set(destinationId, line);
  return line;
}

function start(state: State, line: Line, job: Job): void {
  const { needs } = state;
  const { gate } = line;
  const suspect = gate.isProven ? 0 : 1;
  gate.inFlight += 1;
  gate.usedAt = needs.uptimeMs();
  state.inFlight += 1;
  state.suspect += suspect;
  if (job.isLong === true) state.long += 1;
  const free = () => {
    gate.inFlight -= 1;
    state.inFlight -= 1;
    state.suspect -= suspect;
    if (job.isLong === true) leaveWindow(state);
    markReady(state, line);
    pump(state);
  };
  void needs.attempt(job.delivery, job.webhook, isWorking(gate, needs.now())).then((made) => {
    const learned = learn(gate, made, needs.now());
    if (learned === 'shut') handBackAll(line);
    if (learned !== undefined) needs.learned(gate, job.webhook);
    job.finish(made);
    if (made.rest === undefined) free();
    else void made.rest.then(free);
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
  const job = pick(line, (candidate, isBacklog) => canStart(state, line, { job: candidate, isBacklog }));
  if (job === undefined) return;
  start(state, line, job);
  markReady(state, line);
}

function hasSlot({ inFlight, needs }: State): boolean {
  return inFlight < needs.maxInFlight;
}

/** A receiver that has not shown that it works does not wait for a slot that others like it hold. */
function isCrowded({ suspect, needs }: State, gate: Gate): boolean {
  return !gate.isProven && suspect >= needs.maxInFlight * SUSPECT_SHARE;
}

function canStart(state: State, line: Line, { job, isBacklog }: { job: Job; isBacklog: boolean }): boolean {
  const { needs } = state;
  const { gate } = line;
  const { webhook } = job;
  if (isCrowded(state, gate)) return false;
  const peers = needs.peers();
  const shared = concurrencyOf(gate, webhook, peers);
  // A limit too small to be divided is kept whole by the one who holds the lane's ticket.
  const most = shared === 0 && isBacklog ? (webhook.maxConcurrency ?? 1) : shared;
  if (gate.inFlight >= most) return false;
  if (job.isLong === true && !isAdmitted(state, line)) return false;
  const rate = webhook.maxPerSecond === undefined ? undefined : webhook.maxPerSecond / peers;
  return takeToken(gate, rate, needs.uptimeMs());
}

/** For what no answer sets in motion: patience that is over, budgets that have grown, gates shut by others. */
function sweep(state: State): void {
  const now = state.needs.now();
  const uptimeMs = state.needs.uptimeMs();
  for (const line of state.busy) {
    if (state.isStopped || isShut(line.gate, now)) handBackAll(line);
    handBackLate(line, uptimeMs);
    if (waitingIn(line) === 0) state.busy.delete(line);
    else markReady(state, line);
  }
  pump(state);
  if (state.busy.size === 0) stopSweeping(state);
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
