/**
 * Decides which delivery is attempted next: bounded slots in all, a bounded share for each standing and each destination, and
 * destinations in turn.
 *
 * A delivery waits in the line of its destination, then has an attempt under way in a slot (see `slots.ts`), and is finished with
 * its attempt; or it is handed back without one. A line is empty, busy (something waits), ready (it may be able to start
 * something, and has its turn with the others) or outside (it waits for room in the window for backlogs). Offers and answers make
 * lines ready, and `pump` gives the ready ones their turns. A line whose host is at its cap waits there as well (`host-turns.ts`), and one that
 * gets batches gathers them for a moment (`gather.ts`, `take-batch.ts`): one attempt is then of several deliveries, and finishes each of them. `sweep`,
 * a timer, does what no answer sets in motion: late attempts, patience that is over, rate budgets that have grown, gates that other processes shut.
 */
import { isBatchFormat } from '@millrace/contract';
import {
  concurrencyOf,
  type Gate,
  isShut,
  learn,
  newGate,
  reopen,
  scarceConcurrency,
  standingOf,
  takeToken,
} from './gate.ts';
import {
  handBackAll,
  handBackEverything,
  handBackFresh,
  handBackImpatient,
  handBackLate,
  handBackWithdrawn,
  isTooLong,
  type PendingAttempt,
  type Line,
  newLine,
  pick,
  waitingIn,
} from './line.ts';
import { openGathering } from './gather.ts';
import { openHostTurns } from './host-turns.ts';
import { openLongBacklogs } from './long-backlogs.ts';
import type { Dispatcher, DispatcherNeeds } from './model.ts';
import { openSlots } from './slots.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { learnBatch, takeBatch } from './take-batch.ts';
import { every } from '../../pause.ts';

export type { Dispatcher, DispatcherNeeds } from './model.ts';

const SWEEP_MS = 50;
const IDLE_GATE_MS = 600_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openDispatcher(needs: DispatcherNeeds): Dispatcher & Disposable {
  const { peers, worked, window, now, uptimeMs, maxInFlight } = needs;
  const slots = openSlots(maxInFlight, uptimeMs);
  const hosts = openHostTurns({ cap: needs.hostCap, peers, uptimeMs });
  const lines = new Map<string, Line>();
  const busy = new Set<Line>();
  /** Each line once, in the order of their turns. */
  let ready: Line[] = [];
  const long = openLongBacklogs(window, markReady);
  const gathering = openGathering((line) => {
    markReady(line);
    pump();
  });
  let isStopped = false;
  let sweeper: NodeJS.Timeout | undefined;
  const forgetter = every(IDLE_GATE_MS / 10, forgetIdle);

  function lineOf(destinationId: string): Line {
    const known = lines.get(destinationId);
    if (known !== undefined) return known;
    const line = newLine(newGate(destinationId, uptimeMs(), worked?.isKnown(destinationId)));
    lines.set(destinationId, line);
    return line;
  }

  /** Most start at once; a line in which something is left waits to be swept. */
  function startOrKeep(line: Line, { format }: Webhook): void {
    if (isBatchFormat(format)) gathering.joined(line);
    markReady(line);
    pump();
    if (waitingIn(line) === 0) return;
    busy.add(line);
    keepSweeping();
  }

  function markReady(line: Line): void {
    if (line.isReady || waitingIn(line) === 0) return;
    line.isReady = true;
    ready.push(line);
  }

  /** Gives turns at hosts that were full, and then each ready line one start, round after round, until no line can start anything or no slot is left. */
  function pump(): void {
    giveHostTurns();
    while (ready.length > 0 && hasSlot()) {
      const turns = ready;
      ready = [];
      for (const [index, line] of turns.entries()) {
        if (!hasSlot()) {
          // Lines that had no turn come before those that had one.
          ready = [...turns.slice(index), ...ready];
          return;
        }
        line.isReady = false;
        startNext(line);
      }
    }
  }

  function giveHostTurns(): void {
    for (
      let line = hasSlot() ? hosts.next() : undefined;
      line !== undefined;
      line = hasSlot() ? hosts.next() : undefined
    )
      startNext(line);
  }

  function startNext(line: Line): void {
    handBackWithdrawn(line);
    const probe = line.probes.shift();
    if (probe !== undefined) {
      tryProbe(line, probe);
      return;
    }
    const picked = gathering.holds(line) ? undefined : pick(line, canStart);
    if (picked === undefined) return;
    start(line, takeBatch(line, picked, uptimeMs()));
    markReady(line);
  }

  /** Without a free slot there is no probe: the bound of a process holds for probes too, and the lane is looked at again. */
  function tryProbe(line: Line, pending: PendingAttempt): void {
    if (isStopped || !slots.hasRoom('failing')) {
      pending.finish(undefined);
    } else if (hosts.admits(line, pending)) {
      start(line, [pending]);
    } else {
      line.probes.push(pending);
      busy.add(line);
      keepSweeping();
    }
  }

  function hasSlot(): boolean {
    return slots.inUse() < maxInFlight;
  }

  function canStart(line: Line, pending: PendingAttempt, isBacklog: boolean): boolean {
    const { gate } = line;
    const { webhook } = pending;
    if (!slots.hasRoom(standingOf(gate, now()))) return false;
    const shared = concurrencyOf(gate, webhook, peers());
    // The holder of the lane's ticket alone uses a limit that is too small to be divided.
    const most = shared === 0 && isBacklog ? (webhook.maxConcurrency ?? 1) : shared;
    if (gate.inFlight >= most) return false;
    if (slots.isScarce() && gate.inFlight >= scarceConcurrency(gate, slots.now())) return false;
    if (pending.isLong === true && !long.admits(line)) return false;
    if (!hosts.admits(line, pending)) return false;
    const rate = webhook.maxPerSecond === undefined ? undefined : webhook.maxPerSecond / peers();
    return takeToken(gate, rate, uptimeMs());
  }

  function start(line: Line, batch: readonly PendingAttempt[]): void {
    const [first] = batch;
    if (first === undefined) return;
    const { gate } = line;
    const { webhook } = first;
    const isLong = batch.some((pending) => pending.isLong === true);
    const standing = standingOf(gate, now());
    const slot = slots.take(gate, standing);
    const taken = hosts.take(line, first);
    gate.inFlight += 1;
    gate.usedAt = uptimeMs();
    keepSweeping();
    if (isLong) long.begin();
    const free = () => {
      gate.inFlight -= 1;
      slots.free(slot);
      hosts.release(taken);
      if (isLong) long.end();
      markReady(line);
      pump();
    };
    void needs.attempt(batch, webhook, standing).then((attempt) => {
      const learned = learn(gate, attempt, { now: now(), fairMs: slots.now() });
      if (isBatchFormat(webhook.format)) learnBatch(gate, attempt, batch, uptimeMs());
      if (learned === 'shut') handBackAll(line);
      if (learned !== undefined) needs.learned(gate, webhook);
      if (gate.answeredAt >= slot.since) worked?.note(gate.destinationId);
      for (const pending of batch) pending.finish(attempt);
      if (attempt.rest === undefined) return free();
      slots.answered(slot);
      void attempt.rest.then(free);
    });
  }

  /**
   * New deliveries of a failing receiver do not wait for a slot that other failing ones hold for seconds, and those of one that
   * seems to hang do not wait in memory while slots are scarce. An unknown receiver waits: its turn comes soon.
   */
  function isCrowdedOut(gate: Gate): boolean {
    if (standingOf(gate, now()) !== 'failing') return false;
    return !slots.hasRoom('failing') || (gate.isDoubted && slots.isScarce());
  }

  function keepSweeping(): void {
    sweeper ??= setInterval(sweep, SWEEP_MS);
  }

  function sweep(): void {
    const sweptAt = uptimeMs();
    slots.findLate();
    for (const line of busy) {
      if (isStopped) handBackEverything(line);
      if (isShut(line.gate, now())) handBackAll(line);
      if (isCrowdedOut(line.gate)) handBackFresh(line);
      handBackLate(line, sweptAt);
      handBackImpatient(line, sweptAt);
      handBackWithdrawn(line);
      if (waitingIn(line) > 0) {
        markReady(line);
        continue;
      }
      busy.delete(line);
      hosts.withdraw(line);
    }
    pump();
    if (busy.size === 0 && slots.watched() === 0) stopSweeping();
  }

  function stopSweeping(): void {
    clearInterval(sweeper);
    sweeper = undefined;
  }

  /** A gate that is shut is not idle: forgotten, it would be open. */
  function forgetIdle(): void {
    hosts.forgetIdle();
    for (const [id, line] of lines) {
      const isIdle = line.gate.inFlight === 0 && !busy.has(line) && !isShut(line.gate, now());
      if (isIdle && line.gate.usedAt < uptimeMs() - IDLE_GATE_MS) lines.delete(id);
    }
  }

  return {
    offer(pending) {
      const line = lineOf(pending.webhook.destinationId);
      const isClosed = isStopped || pending.webhook.isPaused || isShut(line.gate, now()) || isCrowdedOut(line.gate);
      if (isClosed || hosts.isCrowded(line, pending.webhook) || isTooLong(line, pending.webhook, peers())) {
        pending.finish(undefined);
        return;
      }
      line.fresh.push({ pending, since: uptimeMs() });
      startOrKeep(line, pending.webhook);
    },
    offerBacklog(pending) {
      const line = lineOf(pending.webhook.destinationId);
      if (isStopped || isShut(line.gate, now())) {
        pending.finish(undefined);
        return;
      }
      line.backlog.push(pending);
      startOrKeep(line, pending.webhook);
    },
    probe: (pending) => tryProbe(lineOf(pending.webhook.destinationId), pending),
    gateOf: (destinationId) => lineOf(destinationId).gate,
    shut(destinationId, shut) {
      const line = lineOf(destinationId);
      line.gate.shut = shut;
      handBackAll(line);
    },
    reopen: (destinationId) => reopen(lines.get(destinationId)?.gate),
    inFlight: slots.inUse,
    late: slots.late,
    waiting: () => busy.values().reduce((sum, line) => sum + line.fresh.length, 0),
    waitsForHost: (destinationId) => lines.get(destinationId)?.waitsSince !== undefined,
    turnInMs: hosts.turnInMs,
    hostsAtCap: hosts.atCap,
    stop() {
      isStopped = true;
      for (const line of busy) handBackEverything(line);
    },
    [Symbol.dispose]() {
      stopSweeping();
      gathering[Symbol.dispose]();
      forgetter[Symbol.dispose]();
    },
  };
}
