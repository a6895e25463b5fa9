/**
 * Writes reads of payloads and write keys, and refused permissions, to the audit log. A request leaves a note in memory; once a second
 * the notes that are due become entries, so no read waits for the log. The first note of an actor, action and object is due at once. Later
 * ones are counted, and become one entry a minute for refusals, one in a quarter of an hour for reads. An actor that reaches for many
 * objects gets one entry for those beyond the first twenty. A stop writes all notes; a crash loses the last second and the counts.
 */
import { appendAudit } from '../../store/audit-log.ts';
import { membershipsOf } from '../../store/members.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { keepWorkspace } from '../../store/workspaces.ts';
import type { Logger } from '../../log.ts';
import { every } from '../../pause.ts';

export type ReadKind = 'payload.viewed' | 'write_key.viewed' | 'permission.denied';

export type Read = {
  /** As the audit log keeps it; its `id` is of a user or a token. */
  actor: Record<string, string>;
  /** Undefined for a person outside of a workspace: the entry goes to all of theirs. */
  workspaceId: string | undefined;
  action: ReadKind;
  /** Undefined for the workspace as a whole. */
  objectId: string | undefined;
  /** `GET /api/v1/sources/:id` */
  endpoint: string;
};

export type ReadLog = AsyncDisposable & {
  note(read: Read): void;
  /** Writes the entries that are due now. */
  flush(): Promise<void>;
};

export type ReadLogNeeds = { store: Store; log: Logger; now(): Date };

const EVERY_MS = 1_000;
const ENTRY_EVERY_MS: Readonly<Record<ReadKind, number>> = {
  'permission.denied': 60_000,
  'payload.viewed': 900_000,
  'write_key.viewed': 900_000,
};
/** Of one actor and action, before the rest are counted together. */
const MAX_OBJECTS = 20;
/** Of all actors; notes of more objects are counted together for each actor. */
const MAX_NOTES = 20_000;
const MAX_LISTED = 10;
/** In one transaction, which holds the lock of the workspace's log. */
const ENTRIES_AT_ONCE = 100;

type Note = {
  read: Read;
  times: number;
  objects: number;
  endpoints: Set<string>;
  addresses: Set<string>;
  writtenAt: number;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openReadLog({ store, log, now }: ReadLogNeeds): ReadLog {
  const notes = new Map<string, Note>();
  /** The objects of an actor and action that have a note of their own. */
  const objectsOf = new Map<string, number>();
  let writing = Promise.resolve();
  const timer = every(EVERY_MS, () => void flush());

  function note(read: Read): void {
    const group = groupOf(read);
    const own = keyOf(read);
    const hasRoom = (objectsOf.get(group) ?? 0) < MAX_OBJECTS && notes.size < MAX_NOTES;
    const isAlone = read.objectId === undefined || notes.has(own) || hasRoom;
    const key = isAlone ? own : keyOf({ ...read, objectId: undefined });
    const noted = notes.get(key);
    if (noted === undefined && isAlone && read.objectId !== undefined) {
      objectsOf.set(group, (objectsOf.get(group) ?? 0) + 1);
    }
    const one = noted ?? emptyNote(isAlone ? read : { ...read, objectId: undefined });
    one.times += 1;
    if (!isAlone) one.objects += 1;
    addTo(one.endpoints, read.endpoint);
    addTo(one.addresses, read.actor['address']);
    one.read = { ...one.read, actor: read.actor };
    notes.set(key, one);
  }

  function flush(isLast = false): Promise<void> {
    writing = writing
      .then(() => writeDue(isLast))
      .catch((error: unknown) => {
        // The notes stay, and the next flush tries again.
        log.warn({ error: error instanceof Error ? error.message : String(error) }, 'reads.unwritten');
      });
    return writing;
  }

  async function writeDue(isLast: boolean): Promise<void> {
    const at = now();
    const due = [...notes].filter(([, { read, writtenAt }]) => {
      return isLast || at.getTime() - writtenAt >= ENTRY_EVERY_MS[read.action];
    });
    for (const [key, { times }] of due) if (times === 0) forget(key);
    const unwritten = due.filter(([, { times }]) => times > 0);
    const failures: unknown[] = [];
    for (const [, some] of Map.groupBy(unwritten, ([, { read }]) => placeOf(read))) {
      for (let from = 0; from < some.length; from += ENTRIES_AT_ONCE) {
        // One workspace whose log cannot be written holds up no other.
        await writeSome(some.slice(from, from + ENTRIES_AT_ONCE), at).catch((error: unknown) => failures.push(error));
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Requests that come meanwhile begin a new note. */
  async function writeSome(some: [string, Note][], at: Date): Promise<void> {
    for (const [key, one] of some) notes.set(key, { ...emptyNote(one.read), writtenAt: at.getTime() });
    try {
      await writeEntries(
        store,
        some.map(([, one]) => one),
        at,
      );
    } catch (error) {
      for (const [key, one] of some) notes.set(key, merged(one, notes.get(key)));
      throw error;
    }
  }

  function forget(key: string): void {
    const one = notes.get(key);
    if (one === undefined) return;
    notes.delete(key);
    if (one.read.objectId === undefined) return;
    const group = groupOf(one.read);
    const left = (objectsOf.get(group) ?? 1) - 1;
    if (left > 0) objectsOf.set(group, left);
    else objectsOf.delete(group);
  }

  return {
    note,
    flush: () => flush(),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await flush(true);
    },
  };
}

function placeOf({ workspaceId, actor }: Read): string {
  return workspaceId ?? `user ${actor['id']}`;
}

function groupOf(read: Read): string {
  return [placeOf(read), read.actor['kind'], read.actor['id'], read.action].join('\n');
}

function keyOf(read: Read): string {
  return `${groupOf(read)}\n${read.objectId ?? ''}`;
}

function emptyNote(read: Read): Note {
  return { read, times: 0, objects: 0, endpoints: new Set(), addresses: new Set(), writtenAt: -Infinity };
}

function addTo(set: Set<string>, text: string | undefined): void {
  if (text !== undefined && set.size < MAX_LISTED) set.add(text);
}

function merged(one: Note, later: Note | undefined): Note {
  for (const endpoint of later?.endpoints ?? []) addTo(one.endpoints, endpoint);
  for (const address of later?.addresses ?? []) addTo(one.addresses, address);
  return { ...one, times: one.times + (later?.times ?? 0), objects: one.objects + (later?.objects ?? 0) };
}

function writeEntries(store: Store, some: readonly Note[], at: Date): Promise<void> {
  return store.asSystem(async (tx) => {
    const [first] = some;
    if (first === undefined) return;
    for (const workspaceId of await workspacesOf(tx, first.read)) {
      // A workspace that was removed meanwhile gets no new row.
      if (!(await keepWorkspace(tx, workspaceId))) continue;
      for (const one of some) await appendAudit(tx, workspaceId, toEntry(one, workspaceId, at));
    }
  });
}

async function workspacesOf(tx: Tx, { workspaceId, actor }: Read): Promise<string[]> {
  if (workspaceId !== undefined) return [workspaceId];
  return (await membershipsOf(tx, actor['id'] ?? '')).map((member) => member.workspace_id).toSorted();
}

function toEntry({ read, times, objects, endpoints, addresses }: Note, workspaceId: string, at: Date) {
  const { actor, action, objectId = workspaceId } = read;
  const several = addresses.size > 1 ? { addresses: [...addresses] } : {};
  const details = { endpoints: [...endpoints], times, ...(objects > 0 ? { objects } : {}), ...several };
  return { at, actor, action, objectId, details };
}
