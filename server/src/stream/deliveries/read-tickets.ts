import type { JetStreamManager } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/nats-core';
import { type Unread, unreadable } from '../../domain/format.ts';
import { readTicketNote, type TicketNote } from '../../domain/read-ticket.ts';
import { anyTicketSubject, TICKETS_STREAM, ticketAtSubject, ticketUrgentSubject } from '../layout/layout.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import { deleteTicket, isMissing } from './delete-ticket.ts';

export type Times = { dueAt: number; isUrgent: boolean };
/** `sequence` is that of the schedule; 0 for one that has fired and waits to be taken. */
export type Found = TicketNote & Times & { sequence: number };
type Ticket = { subject: string; seq: number; data: Uint8Array };

export type TicketReader = {
  /** The lane's schedule; undefined when there is none, or it has fired. */
  readScheduled(destinationId: string): Promise<Found | undefined>;
  /** The newest of a lane's messages: if that is a due one, there is no schedule, because it fired. */
  readTicket(destinationId: string): Promise<Found | undefined>;
  /** True when quarantine has it. A ticket of a newer format, and one that quarantine does not take, stays where it is. */
  mayReplace(ticket: Ticket, unread: Unread): Promise<boolean>;
};

export const NEW_NOTE: TicketNote = { held: false, note: '' };

/** `now` is by the clock of NATS. */
export type ReaderNeeds = { manager: JetStreamManager; now(): number; quarantine: Quarantine };

export function openTicketReader({ manager, now, quarantine }: ReaderNeeds): TicketReader {
  /** From the leader: a replica may not have the ticket yet. */
  async function readLast(destinationId: string, subject: string): Promise<Found | undefined> {
    try {
      const message = await manager.streams.getMessage(TICKETS_STREAM, { last_by_subj: subject });
      if (message === null) return undefined;
      return message.subject === ticketAtSubject(destinationId) ? await readAt(message) : readDue(message, now());
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** An unreadable schedule might never come due: a new one takes its place. */
  async function readAt(message: Ticket & { header: MsgHdrs }): Promise<Found | undefined> {
    const { header, subject, seq } = message;
    const dueAt = Date.parse(header.get('Nats-Schedule').replace('@at ', ''));
    const isUrgent = header.get('Nats-Schedule-Target') === ticketUrgentSubject(subject.split('.')[2] ?? '');
    const read = Number.isNaN(dueAt) ? unreadable('a ticket that is never due') : readTicketNote(message.data);
    if (read.ok) return { ...read.value, sequence: seq, dueAt, isUrgent };
    if (!(await mayReplace(message, read))) return { held: true, note: '', sequence: seq, dueAt, isUrgent };
    await deleteTicket(manager, seq);
    return undefined;
  }

  async function mayReplace(ticket: Ticket, { problem, why }: Unread): Promise<boolean> {
    if (problem === 'newer') {
      quarantine.left('ticket', why);
      return false;
    }
    const { subject, seq, data } = ticket;
    const from = { stream: TICKETS_STREAM, subject, sequence: seq };
    return (await quarantine.append({ kind: 'ticket', payload: data, from, why })) === 'stored';
  }

  return {
    readScheduled: (destinationId) => readLast(destinationId, ticketAtSubject(destinationId)),
    readTicket: (destinationId) => readLast(destinationId, anyTicketSubject(destinationId)),
    mayReplace,
  };
}

/** Not held: its holder is dead, if there was one. `hold` deals with an unreadable one. */
function readDue({ subject, data }: Ticket, now: number): Found {
  const read = readTicketNote(data);
  const isLeft = !read.ok && read.problem === 'newer';
  const note = read.ok ? read.value : NEW_NOTE;
  return {
    ...note,
    held: isLeft,
    sequence: 0,
    dueAt: now,
    isUrgent: subject.startsWith(ticketUrgentSubject('')),
  };
}
