import { setTimeout as sleep } from 'node:timers/promises';
import type { Hurry, TicketNote } from '../../domain/read-ticket.ts';
import type { Durable } from '../nats/publish-durably.ts';

/**
 * - `hurried`: the ticket is due now and carries the hurry;
 * - `held`: a process holds it, or it is due and waits to be taken: the lane is looked at without a hurry;
 * - `none`: the lane has no ticket, so nothing waits in it.
 */
export type Hurried = 'hurried' | 'held' | 'none' | 'unavailable';

type FoundTicket = TicketNote & { sequence: number; dueAt: number };
type HurriedTicket = TicketNote & { expected: number; dueAt: number; isUrgent: true };

export type HurryNeeds = {
  read(): Promise<FoundTicket | undefined>;
  /** Replaces the ticket if it still has the expected sequence. */
  write(ticket: HurriedTicket): Promise<Pick<Durable, 'kind'>>;
  now(): number;
};

/** A short look at a lane ends within this time; a drain does not. */
const ROUNDS = 8;
const ROUND_MS = 300;
/** Longer than a schedule may be late: one that fires in this moment would take away the ticket in its place. */
const ABOUT_TO_FIRE_MS = 1_000;

/** Moves a ticket that is scheduled for later. Every write names the sequence that it replaces, so no second ticket comes of it. */
export async function hurryTicket(hurry: Hurry, { read, write, now }: HurryNeeds): Promise<Hurried> {
  for (let round = 1; ; round += 1) {
    const found = await read();
    if (found === undefined) return 'none';
    const isScheduled = !found.held && found.sequence > 0 && found.dueAt > now() + ABOUT_TO_FIRE_MS;
    if (isScheduled) {
      const { note, sequence: expected } = found;
      // Urgent, because a person waits for the effect; if the receiver fails, one look shows that.
      const hurried = {
        held: false,
        note,
        hurry: { ...both(found.hurry, hurry), plannedAt: Math.min(found.dueAt, found.hurry?.plannedAt ?? Infinity) },
        expected,
        dueAt: now(),
        isUrgent: true,
      } as const;
      const { kind } = await write(hurried);
      if (kind === 'stored') return 'hurried';
      if (kind !== 'conflict') return 'unavailable';
    }
    if (round === ROUNDS) return 'held';
    await sleep(ROUND_MS);
  }
}

/** A lane that was hurried and not looked at yet: the wider of the two holds. */
function both(before: Hurry | undefined, { at, upTo }: Hurry): Hurry {
  const most = Math.max(before?.upTo ?? 0, upTo ?? 0);
  return { at: Math.max(before?.at ?? 0, at), ...(most > 0 ? { upTo: most } : {}) };
}
