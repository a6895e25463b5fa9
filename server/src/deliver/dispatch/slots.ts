import type { Standing } from '../client/pace.ts';
import { openFairClock } from './fair-clock.ts';
import { type Gate, LATE_MS, noteLate } from './gate.ts';

/**
 * The slots of one process. An attempt takes one by the standing of its receiver (works, unknown, failing) and holds it until it
 * ends. The dispatcher's sweep moves an attempt that is not answered after `LATE_MS` to a reserve of late attempts, which leaves
 * its slot to others; those of failing receivers stay in the slots of the failing. The reserve is as large as all slots: while it
 * has room, hanging receivers hold no slot for longer than `LATE_MS`. When it is full, late attempts stay in their slots.
 */
export type Slots = {
  hasRoom(standing: Standing): boolean;
  take(gate: Gate, standing: Standing): Slot;
  /** A target has answered; the slot is held while another one of the destination does not. */
  answered(slot: Slot): void;
  free(slot: Slot): void;
  /** Moves late attempts, and notes in their gates that the receiver may be hanging. */
  findLate(): void;
  /** By the clock that tells which attempts are late. */
  now(): number;
  /** Many attempts wait for receivers that may never answer: from now on each such receiver gets one at a time. */
  isScarce(): boolean;
  inUse(): number;
  late(): number;
  /** Attempts that may still become late. */
  watched(): number;
};

export type Slot = { gate: Gate; since: number; account: Standing | 'late'; isAnswered: boolean };

/** Receivers that are not known to work share this part of the slots, so the others always find some free. */
const SUSPECT_SHARE = 0.5;
/** Of that part the failing ones never take more than this: the rest is for receivers that nothing is known about. */
const FAILING_SHARE = 0.25;
const SCARCE_SHARE = 0.125;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openSlots(most: number, uptimeMs: () => number): Slots {
  const used = { works: 0, unknown: 0, failing: 0, late: 0 };
  /** Attempts that are not late yet, or whose receiver is not doubted yet; the oldest first. */
  const watched = new Set<Slot>();
  const clock = openFairClock(uptimeMs);
  const inUse = () => used.works + used.unknown + used.failing;

  function findLate(): void {
    clock.turn();
    const now = clock.now();
    for (const slot of watched) {
      const { gate, since, account, isAnswered } = slot;
      if (now - since < LATE_MS) break;
      if (!isAnswered) noteLate(gate, since, now);
      if (account !== 'late' && used.late < most) {
        used[account] -= 1;
        used.late += 1;
        slot.account = 'late';
      }
      if (slot.account === 'late' && (isAnswered || gate.isDoubted)) watched.delete(slot);
    }
    // Last: the loop may have let go of all of them, and then nothing calls it any more.
    if (watched.size === 0) clock.rest();
  }

  return {
    hasRoom(standing) {
      if (inUse() >= most) return false;
      if (standing === 'works') return true;
      if (used.unknown + used.failing >= most * SUSPECT_SHARE) return false;
      return standing === 'unknown' || used.failing < most * FAILING_SHARE;
    },
    take(gate, standing) {
      clock.run();
      const slot: Slot = { gate, since: clock.now(), account: standing, isAnswered: false };
      used[standing] += 1;
      if (standing !== 'failing') watched.add(slot);
      return slot;
    },
    answered(slot) {
      slot.isAnswered = true;
    },
    free(slot) {
      used[slot.account] -= 1;
      watched.delete(slot);
    },
    findLate,
    isScarce: () => used.unknown + used.failing + used.late > most * SCARCE_SHARE,
    now: clock.now,
    inUse,
    late: () => used.late,
    watched: () => watched.size,
  };
}
