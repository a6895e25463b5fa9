/**
 * Tickets: the right to drain one lane, as a lease. Each lane that holds something has one, a message on a subject of its own:
 *
 * - scheduled: NATS holds it back until it is due (`ensure` makes it, `giveBack` puts it back);
 * - due: NATS has fired it to the work queue, or to the one for urgent tickets;
 * - held: a process took it (`hold`) and scheduled it again for the end of its lease, so that no other process gets it. It renews
 *   the lease while it drains; if it crashes, NATS fires the ticket again;
 * - ended: the lane was empty, and the holder deleted it (`end`).
 *
 * Each write names the sequence that it replaces: of two processes only one succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { nuid } from '@nats-io/nats-core';
import { FORMATS } from '../../domain/format.ts';
import { type Hurry, readTicketNote, type TicketNote } from '../../domain/read-ticket.ts';
import { TICKETS_STREAM, ticketAtSubject, ticketDueSubject, ticketUrgentSubject } from '../layout/layout.ts';
import { type Durable, type DurableNeeds, publishDurably } from '../nats/publish-durably.ts';
import type { PulledMessage } from '../nats/pull.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import { deleteTicket } from './delete-ticket.ts';
import { hurryTicket, type Hurried } from './hurry-ticket.ts';
import { reviveOverdue } from './overdue-tickets.ts';
import { type Found, NEW_NOTE, openTicketReader, type Times } from './read-tickets.ts';

export type HeldTicket = {
  destinationId: string;
  /** Whether it came from the queue for urgent tickets. */
  isUrgent: boolean;
  /** The note of the last holder; empty for a new lane. */
  note: string;
  /** A person asked for an attempt now. The holder gives it back only when it has more to hurry. */
  hurry?: Hurry;
  /** Whether the lease is over or another holder has the ticket: the former holder must begin nothing more. */
  isLost(): boolean;
  /** Gives the ticket back. False if the lease was over and another process has it. */
  giveBack(back: Back): Promise<boolean>;
  /** Ends the ticket. The lane must be counted once more afterwards: a group parked meanwhile found a ticket in place. */
  end(): Promise<void>;
};

/** `isUrgent` is for a receiver that works: urgent tickets have their own consumer. */
export type Back = { dueAt: number; note: string; isUrgent?: boolean; hurry?: Hurry };
export type Wanted = { dueAt: number; hurry: boolean; isUrgent?: boolean };
export type Ensured = 'made' | 'there' | 'held' | 'unavailable';

export type Tickets = {
  /** Never rejects. Makes a ticket if there is none. With `hurry`, one that is due later or less urgent, and not held, becomes as wanted. */
  ensure(destinationId: string, wanted: Wanted): Promise<Ensured>;
  /** Never rejects. Makes a lane's ticket due now, with the word that its deliveries need not be. Makes none where there is none. */
  hurry(destinationId: string, hurry: Hurry): Promise<Hurried>;
  /** For a message of the work queue of due tickets. Undefined when NATS could not be reached: it comes again. */
  hold(message: Omit<PulledMessage, 'stream'>): Promise<HeldTicket | undefined>;
  list(): Promise<Set<string>>;
  /** Makes NATS fire tickets that it should have fired long ago. Resolves with their number. */
  revive(): Promise<number>;
};

/** `now` is by the clock of NATS, which fires the schedules. */
export type TicketsNeeds = DurableNeeds & { manager: JetStreamManager; now(): number; quarantine: Quarantine };

/** How long the lane of a crashed holder waits for another one. A living holder renews in time. */
export const LEASE_MS = 12_000;
/** Longer than an attempt can take, so that a probe needs no renewal. */
const RENEW_MS = 6_000;
/** A ticket that is due this much later than wanted is not worth a write. */
const CLOSE_ENOUGH_MS = 1_000;
const FIRED_PAUSE_MS = 300;
/** After this time a ticket of a newer format comes again, to this process or another. */
const LEFT_FOR_MS = 5_000;
/** Longer than a schedule may be late. */
const ABOUT_TO_FIRE_MS = 1_000;

/** `expected` is the sequence of the ticket it takes the place of; 0 for none. */
type Schedule = TicketNote & Times & { expected: number };

type Taken = Pick<HeldTicket, 'destinationId' | 'isUrgent' | 'note' | 'hurry'> & { lease: string; dueSequence: number };
/** `heldUntil` is monotonic: NATS gives the ticket to another holder then. */
type Lease = Taken & { sequence: number; heldUntil: number; isLost: boolean };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openTickets(needs: TicketsNeeds): Tickets {
  const { manager, now } = needs;
  const { readScheduled, readTicket, mayReplace } = openTicketReader(needs);

  async function schedule(destinationId: string, { dueAt, isUrgent, expected, ...note }: Schedule): Promise<Durable> {
    const headers: [string, string][] = [
      ['Nats-Schedule', `@at ${new Date(dueAt).toISOString()}`],
      ['Nats-Schedule-Target', isUrgent ? ticketUrgentSubject(destinationId) : ticketDueSubject(destinationId)],
      ['Nats-Expected-Last-Subject-Sequence', String(expected)],
    ];
    const payload = Buffer.from(JSON.stringify({ ...note, v: FORMATS.ticket }));
    const answer = await publishDurably({ subject: ticketAtSubject(destinationId), headers, payload }, needs);
    if (answer.kind !== 'refused' || !isUrgent) return answer;
    // An older version made the stream, or changed it back to its own settings: it has no subject for urgent tickets.
    return schedule(destinationId, { dueAt, isUrgent: false, expected, ...note });
  }

  /**
   * Looks before it makes one: a ticket that has fired is in no schedule any more, and a new one beside it would lack its note and
   * go to the end of the queue.
   */
  async function ensure(destinationId: string, wanted: Wanted): Promise<Ensured> {
    const { hurry } = wanted;
    for (let round = 0; ; round += 1) {
      const found = await readTicket(destinationId);
      if (found !== undefined && !hurry) return 'there';
      if (found?.held === true) return 'held';
      if (found !== undefined && isAsWanted(found, wanted)) return 'there';
      const made = await scheduleAsWanted(destinationId, found, wanted);
      if (made === 'stored') return found === undefined ? 'made' : 'there';
      if (made !== 'conflict') return 'unavailable';
      // Fired, taken or moved between the two requests: try again, three times at most.
      if (round === 2) return 'held';
      await sleep(FIRED_PAUSE_MS);
    }
  }

  /** Never later than the one it takes the place of, and never less urgent. */
  async function scheduleAsWanted(
    destinationId: string,
    found: Found | undefined,
    { dueAt, isUrgent = false }: Wanted,
  ): Promise<Durable['kind']> {
    const times = {
      dueAt: Math.min(dueAt, found?.dueAt ?? Infinity),
      isUrgent: isUrgent || found?.isUrgent === true,
    };
    const written = { expected: found?.sequence ?? 0, held: false, note: found?.note ?? '', ...hurryOf(found) };
    return (await schedule(destinationId, { ...times, ...written })).kind;
  }

  async function hold(message: Omit<PulledMessage, 'stream'>): Promise<HeldTicket | undefined> {
    const destinationId = message.subject.split('.')[2] ?? '';
    const isUrgent = message.subject === ticketUrgentSubject(destinationId);
    const read = readTicketNote(message.data);
    // Without the note, the lane is read from its beginning.
    if (!read.ok && !(await mayReplace(message, read))) {
      message.nak(LEFT_FOR_MS);
      return undefined;
    }
    const ticket = read.ok ? read.value : NEW_NOTE;
    const taken = {
      destinationId,
      isUrgent,
      note: ticket.note,
      ...hurryOf(ticket),
      lease: nuid.next(),
      dueSequence: message.seq,
    };
    const lease = await takeLease(taken);
    if (lease === undefined) return undefined;
    if (lease === 'held') {
      await dropSurplus(taken);
      return undefined;
    }
    message.ack();
    return holdOn(lease);
  }

  /**
   * Drops a due message whose ticket another process holds. That process may have ended the ticket meanwhile, and a parker may have
   * seen this message and relied on it: so a ticket is made again if there is none. Without an answer the message comes again.
   */
  async function dropSurplus({ destinationId, isUrgent, note, dueSequence, ...taken }: Taken): Promise<void> {
    try {
      await deleteTicket(manager, dueSequence);
      if ((await readTicket(destinationId)) !== undefined) return;
      await schedule(destinationId, { dueAt: now(), isUrgent, expected: 0, held: false, note, ...hurryOf(taken) });
    } catch {}
  }

  /**
   * A due ticket can come twice, after a change of leaders or a lost acknowledgement. The second process finds a lease in place and
   * must leave it there. Undefined when NATS could not be reached.
   */
  async function takeLease(taken: Taken): Promise<Lease | 'held' | undefined> {
    const { destinationId, isUrgent, note } = taken;
    const lease = { dueAt: now() + LEASE_MS, isUrgent, held: true, note, ...hurryOf(taken), lease: taken.lease };
    const held = { ...taken, heldUntil: performance.now() + LEASE_MS, isLost: false };
    const made = await schedule(destinationId, { ...lease, expected: 0 });
    if (made.kind === 'stored') return { ...held, sequence: made.sequence };
    if (made.kind !== 'conflict') return undefined;
    const found = await readScheduled(destinationId).catch(() => undefined);
    if (found === undefined) return undefined;
    // Ours: stored at a first try whose answer was lost.
    if (found.lease === lease.lease) return { ...held, sequence: found.sequence };
    // A schedule that is about to fire comes by itself. Firing, it would take away the lease that we put in its place.
    if (found.held || found.dueAt < now() + ABOUT_TO_FIRE_MS) return 'held';
    // Held and given back since this one fired: its note is newer.
    const latest = found.note === '' ? note : found.note;
    const newer = { note: latest, ...hurryOf(found) };
    const moved = await schedule(destinationId, { ...lease, ...newer, expected: found.sequence });
    // It may have fired since, and taken away the lease in its place: then it comes by itself, else when the lease is over.
    if (moved.kind !== 'stored' || found.dueAt < now() + ABOUT_TO_FIRE_MS) return undefined;
    return { ...held, ...newer, sequence: moved.sequence };
  }

  /** A renewal that comes too late fails: another process has the ticket, and the expected sequence is gone. */
  function holdOn(lease: Lease): HeldTicket {
    const { destinationId, isUrgent, note } = lease;
    let renewing = Promise.resolve();
    const renewer = setInterval(() => {
      renewing = renewing.then(() => renew(lease));
    }, RENEW_MS);
    const letGo = async () => {
      clearInterval(renewer);
      await renewing;
    };
    return {
      destinationId,
      isUrgent,
      note,
      ...hurryOf(lease),
      isLost: () => lease.isLost || performance.now() >= lease.heldUntil,
      async giveBack(back) {
        await letGo();
        const given = { isUrgent: false, ...back, expected: lease.sequence, held: false };
        return (await schedule(destinationId, given)).kind === 'stored';
      },
      async end() {
        await letGo();
        // The due message may not be acknowledged yet: without a lease beside it, it would count as a ticket.
        await deleteTicket(manager, lease.dueSequence);
        await deleteTicket(manager, lease.sequence);
      },
    };
  }

  async function renew(lease: Lease): Promise<void> {
    const { destinationId, isUrgent, note, sequence } = lease;
    const heldUntil = performance.now() + LEASE_MS;
    const renewal = { dueAt: now() + LEASE_MS, isUrgent, held: true, note, ...hurryOf(lease), lease: lease.lease };
    const renewed = await schedule(destinationId, { ...renewal, expected: sequence });
    if (renewed.kind === 'stored') return prolong(lease, { sequence: renewed.sequence, heldUntil });
    if (renewed.kind !== 'conflict') return;
    try {
      const found = await readScheduled(destinationId);
      // Stored at a first try, perhaps, whose answer was lost.
      if (found?.lease === lease.lease) prolong(lease, { sequence: found.sequence, heldUntil });
      else lease.isLost = true;
    } catch {
      // NATS could not be asked: the next renewal will tell, or the end of the lease.
    }
  }

  /**
   * A schedule that fires takes away the one that was stored in its place a moment before: a renewal that is known so late may be gone,
   * and another process may have the ticket. The holder gives it back, which tells.
   */
  function prolong(lease: Lease, renewed: Pick<Lease, 'sequence' | 'heldUntil'>): void {
    lease.isLost ||= performance.now() > lease.heldUntil - ABOUT_TO_FIRE_MS;
    Object.assign(lease, renewed);
  }

  return {
    ensure: (destinationId, wanted) => ensure(destinationId, wanted).catch(() => 'unavailable' as const),
    hurry(destinationId, hurry) {
      const read = () => readTicket(destinationId);
      const write = (ticket: Schedule) => schedule(destinationId, ticket);
      return hurryTicket(hurry, { read, write, now }).catch(() => 'unavailable' as const);
    },
    hold,
    revive: () => reviveOverdue(needs),
    async list() {
      const { state } = await manager.streams.info(TICKETS_STREAM, { subjects_filter: '>' });
      return new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.split('.')[2] ?? ''));
    },
  };
}

/** Travels with the ticket until a holder has used it. */
function hurryOf(ticket: { hurry?: Hurry } | undefined): { hurry?: Hurry } {
  return ticket?.hurry === undefined ? {} : { hurry: ticket.hurry };
}

function isAsWanted(found: Found, { dueAt, isUrgent = false }: Wanted): boolean {
  const isSoonEnough = found.sequence === 0 || found.dueAt <= dueAt + CLOSE_ENOUGH_MS;
  return isSoonEnough && (found.isUrgent || !isUrgent);
}
