import { fieldProblem, isFields, readJson, type Stored, unreadable, versionProblem } from './format.ts';

export type TicketNote = {
  held: boolean;
  note: string;
  /** Whose lease it is, if it is held. */
  lease?: string;
  /** A person asked for an attempt now. */
  hurry?: Hurry;
};

/**
 * A request to attempt deliveries of a lane before they are due: each one at most once, and only those that were not attempted
 * since `at`. Without `upTo` it is the first in line only; with it, all that are due by then, oldest first.
 */
export type Hurry = {
  at: number;
  upTo?: number;
  /** When the lane would have been looked at without it. Left out by older versions. */
  plannedAt?: number;
};

/** An empty message is the ticket of a new lane. */
export function readTicketNote(data: Uint8Array): Stored<TicketNote> {
  if (data.length === 0) return { ok: true, value: { held: false, note: '' } };
  const json = readJson(data);
  if (!json.ok) return json;
  if (!isFields(json.value)) return unreadable('a ticket that is not an object');
  const newer = versionProblem('ticket', json.value['v']);
  if (newer !== undefined) return newer;
  const why = fieldProblem(json.value, { held: 'boolean', note: 'text', lease: 'text?' });
  if (why !== undefined) return unreadable(`a ticket whose ${why}`);
  const { held, note, lease, hurry } = json.value as TicketNote;
  const rest = { ...(lease === undefined ? {} : { lease }), ...(isHurry(hurry) ? { hurry } : {}) };
  return { ok: true, value: { held, note, ...rest } };
}

/** Without a hurry that can be read, the lane is attempted when it is due. */
function isHurry(hurry: unknown): hurry is Hurry {
  return isFields(hurry) && fieldProblem(hurry, { at: 'number', upTo: 'number?', plannedAt: 'number?' }) === undefined;
}
