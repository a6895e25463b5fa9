import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, JetStreamApiCodes, JetStreamApiError, type JsMsg } from '@nats-io/jetstream';
import { nuid } from '@nats-io/nats-core';
import { TICKETS_STREAM, ticketAtSubject, ticketDueSubject } from './layout.ts';
import { type Durable, type DurableNeeds, publishDurably } from './publish-durably.ts';

/**
 * The right to drain one lane. There is one for each lane that holds something: a scheduled message, on a subject of its
 * own. Who takes it when it is due puts it back at once, scheduled for the end of a lease, and so nobody else gets it
 * while they drain; if they crash it comes due again by itself.
 */
export type HeldTicket = {
  destinationId: string;
  /** What the last holder wrote down; empty for a new lane. */
  note: string;
  /** Gives the ticket back, due at that time. False if the lease was over and somebody else has it. */
  giveBack(dueAt: number, note: string): Promise<boolean>;
  /** Ends the ticket. The lane must be looked at once more afterwards: what came meanwhile found a ticket in place. */
  end(): Promise<void>;
};

export type Wanted = { dueAt: number; hurry: boolean };
export type Ensured = 'made' | 'there' | 'held' | 'unavailable';

export type Tickets = {
  /** Makes a ticket if there is none; with `hurry`, one that is due later and held by nobody becomes due by then. */
  ensure(destinationId: string, wanted: Wanted): Promise<Ensured>;
  /** For a message of the work queue of due tickets. Undefined when the engine could not be reached: it comes again. */
  hold(message: JsMsg): Promise<HeldTicket | undefined>;
  list(): Promise<Set<string>>;
};

export type TicketsNeeds = DurableNeeds & { manager: JetStreamManager };

/** How long the lane of a crashed holder waits for another one. Who is alive renews in time. */
export const LEASE_MS = 12_000;
/** Longer than an attempt can take, so that a probe needs no renewal. */
const RENEW_MS = 6_000;
/** A ticket that is due this much later than wanted is not worth a write. */
const CLOSE_ENOUGH_MS = 1_000;
const FIRED_PAUSE_MS = 300;

type Note = { held: boolean; note: string /** Whose lease it is, if it is held. */; lease?: string };
type Scheduled = { sequence: number; dueAt: number } & Note;
type Schedule = Note & {
  dueAt: number /** The sequence of the ticket it takes the place of; 0 for none. */;
  expected?: number;
};

export function openTickets(needs: TicketsNeeds): Tickets {
  const { manager } = needs;
  return {
    ensure: (destinationId, wanted) => ensure(needs, destinationId, wanted),
    hold: (message) => hold(needs, message),
    async list() {
      const { state } = await manager.streams.info(TICKETS_STREAM, { subjects_filter: '>' });
      return new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.split('.')[2] ?? ''));
    },
  };
}

function schedule(
  needs: TicketsNeeds,
  destinationId: string,
  { dueAt, expected, ...note }: Schedule,
): Promise<Durable> {
  const headers: [string, string][] = [
    ['Nats-Schedule', `@at ${new Date(dueAt).toISOString()}`],
    ['Nats-Schedule-Target', ticketDueSubject(destinationId)],
  ];
  if (expected !== undefined) headers.push(['Nats-Expected-Last-Subject-Sequence', String(expected)]);
  const payload = Buffer.from(JSON.stringify(note));
  return publishDurably({ subject: ticketAtSubject(destinationId), headers, payload }, needs);
}

async function ensure(needs: TicketsNeeds, destinationId: string, { dueAt, hurry }: Wanted): Promise<Ensured> {
  for (let round = 0; ; round += 1) {
    const made = await schedule(needs, destinationId, { dueAt, expected: 0, held: false, note: '' });
    if (made.kind === 'stored') return 'made';
    if (made.kind !== 'conflict') return 'unavailable';
    if (!hurry) return 'there';
    const found = await readScheduled(needs.manager, destinationId);
    if (found?.held === true) return 'held';
    if (found !== undefined && found.dueAt <= dueAt + CLOSE_ENOUGH_MS) return 'there';
    if (found !== undefined) {
      const moved = await schedule(needs, destinationId, {
        dueAt,
        expected: found.sequence,
        held: false,
        note: found.note,
      });
      if (moved.kind === 'stored') return 'there';
    }
    // Fired, taken or moved between the two questions: ask again, and leave it at that when it is that busy.
    if (round === 2) return 'held';
    await sleep(FIRED_PAUSE_MS);
  }
}

async function hold(needs: TicketsNeeds, message: JsMsg): Promise<HeldTicket | undefined> {
  const destinationId = message.subject.split('.')[2] ?? '';
  const lease = await takeLease(needs, destinationId, readNote(message.data).note);
  if (lease === undefined) return undefined;
  message.ack();
  return lease === 'held' ? undefined : holdOn(needs, lease);
}

/**
 * A due ticket can come twice, after a change of leaders or a lost acknowledgement. Who comes second finds a lease in place
 * and must leave it there. Undefined when the engine could not be reached.
 */
async function takeLease(
  needs: TicketsNeeds,
  destinationId: string,
  note: string,
): Promise<Lease | 'held' | undefined> {
  const lease = { dueAt: Date.now() + LEASE_MS, held: true, note, lease: nuid.next() };
  const made = await schedule(needs, destinationId, { ...lease, expected: 0 });
  if (made.kind === 'stored') return { destinationId, note, sequence: made.sequence };
  if (made.kind !== 'conflict') return undefined;
  const found = await readScheduled(needs.manager, destinationId).catch(() => undefined);
  if (found === undefined) return undefined;
  // Ours: stored at a first try whose answer was lost.
  if (found.lease === lease.lease) return { destinationId, note, sequence: found.sequence };
  if (found.held) return 'held';
  // Held and given back since this one fired: what was written down then is newer.
  const latest = found.note === '' ? note : found.note;
  const taken = await schedule(needs, destinationId, { ...lease, note: latest, expected: found.sequence });
  return taken.kind === 'stored' ? { destinationId, note: latest, sequence: taken.sequence } : undefined;
}

type Lease = { destinationId: string; note: string; sequence: number };

/** If a renewal comes too late the ticket is somebody else's by then, and what is expected of the last one is not there. */
function holdOn(needs: TicketsNeeds, lease: Lease): HeldTicket {
  const { destinationId, note } = lease;
  let renewing = Promise.resolve();
  const renewer = setInterval(() => {
    renewing = renewing.then(() => renew(needs, lease));
  }, RENEW_MS);
  const letGo = async () => {
    clearInterval(renewer);
    await renewing;
  };
  return {
    destinationId,
    note,
    async giveBack(dueAt, noteBack) {
      await letGo();
      const back = { dueAt, expected: lease.sequence, held: false, note: noteBack };
      return (await schedule(needs, destinationId, back)).kind === 'stored';
    },
    async end() {
      await letGo();
      await deleteTicket(needs.manager, lease.sequence);
    },
  };
}

async function renew(needs: TicketsNeeds, lease: Lease): Promise<void> {
  const { destinationId, note, sequence } = lease;
  const renewed = await schedule(needs, destinationId, {
    dueAt: Date.now() + LEASE_MS,
    expected: sequence,
    held: true,
    note,
  });
  if (renewed.kind === 'stored') lease.sequence = renewed.sequence;
}

/** By the leader's word: a replica may not have heard of the ticket yet. */
async function readScheduled(manager: JetStreamManager, destinationId: string): Promise<Scheduled | undefined> {
  try {
    const found = await manager.streams.getMessage(TICKETS_STREAM, { last_by_subj: ticketAtSubject(destinationId) });
    if (found === null) return undefined;
    const dueAt = Date.parse((found.header.get('Nats-Schedule') ?? '').replace('@at ', ''));
    return { sequence: found.seq, dueAt, ...readNote(found.data) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function deleteTicket(manager: JetStreamManager, sequence: number): Promise<void> {
  try {
    // Not overwritten on the disk: there is nothing in it to hide.
    await manager.streams.deleteMessage(TICKETS_STREAM, sequence, false);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function readNote(data: Uint8Array): Note {
  if (data.length === 0) return { held: false, note: '' };
  return JSON.parse(Buffer.from(data).toString()) as Note;
}

/** 10043 and 10057 are a deletion that came too late: it has fired, or somebody else has it. */
function isMissing(error: unknown): boolean {
  const codes: number[] = [JetStreamApiCodes.NoMessageFound, 10043, 10057];
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
