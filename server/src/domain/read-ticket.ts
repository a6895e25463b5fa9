import { fieldProblem, isFields, readJson, type Stored, unreadable, versionProblem } from './format.ts';

export type TicketNote = {
  held: boolean;
  note: string;
  /** Whose lease it is, if it is held. */
  lease?: string;
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
  const { held, note, lease } = json.value as TicketNote;
  return { ok: true, value: { held, note, ...(lease === undefined ? {} : { lease }) } };
}
