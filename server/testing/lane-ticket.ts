import type { LaneNote } from '../src/deliver/lane/lane-note.ts';

/** A held ticket without an engine, and what became of it. */
export function openTicket(note: Partial<LaneNote> = {}) {
  const notes: LaneNote[] = [];
  const dueAts: number[] = [];
  const life = { isEnded: false, isLost: false };
  const ticket = {
    destinationId: 'dst_1',
    isUrgent: false,
    note: JSON.stringify(note),
    async giveBack(back: { dueAt: number; note: string }) {
      dueAts.push(back.dueAt);
      notes.push(JSON.parse(back.note) as LaneNote);
      return !life.isEnded && !life.isLost;
    },
    end: async () => void (life.isEnded = true),
    isLost: () => life.isLost,
  };
  return { ticket, notes, dueAts, life };
}
