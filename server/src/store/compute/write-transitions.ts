import type { ComputedValue, Transition } from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';
import { boolArray, int4Array, int8Array, textArray, uuidArray } from './binary-array.ts';

/** A member of an audience, or a profile with a value of a trait. */
export function isMember(kind: Transition['kind'], value: ComputedValue): boolean {
  return kind === 'audience' ? value === true : value !== null;
}

/** All transitions of one profile and definition in a batch. */
type Change = { first: Transition; last: Transition };

/** Memberships, history and outbox follow from the transitions. */
export async function writeTransitions(tx: Tx, transitions: readonly Transition[]): Promise<void> {
  if (transitions.length === 0) return;
  const changes = changesOf(transitions);
  await writeMemberships(tx, changes);
  await writeHistory(tx, transitions);
  await writeOutbox(
    tx,
    changes.filter(({ first }) => first.sendAt !== undefined),
  );
}

/** In the order of definitions and keys: neighbours in an index are written one after the other. */
function changesOf(transitions: readonly Transition[]): Change[] {
  const changes = new Map<string, Change>();
  for (const transition of transitions) {
    const pair = `${transition.definition} ${transition.key}`;
    const change = changes.get(pair);
    if (change === undefined) changes.set(pair, { first: transition, last: transition });
    else change.last = transition;
  }
  return [...changes.values()].sort((one, other) => compare(one.last, other.last));
}

function compare(one: Transition, other: Transition): number {
  if (one.definition !== other.definition) return one.definition - other.definition;
  return compareKeys(one, other);
}

function compareKeys(one: Transition, other: Transition): number {
  return one.key < other.key ? -1 : Number(one.key > other.key);
}

/** The value before tells whether there is a row: the profile is locked, so nothing else has changed it. */
const INSERT: Statement = {
  name: 'memberships-insert',
  text: `INSERT INTO memberships (definition, profile_key, since, sequence, value)
    SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::text[])`,
};
const UPDATE: Statement = {
  name: 'memberships-update',
  text: `UPDATE memberships m SET since = c.since, sequence = c.sequence, value = c.value
    FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::text[]) AS c (definition, key, since, sequence, value)
    WHERE m.definition = c.definition AND m.profile_key = c.key`,
};
const REMOVE: Statement = {
  name: 'memberships-remove',
  text: `DELETE FROM memberships m USING unnest($1::int4[], $2::uuid[]) AS c (definition, key)
    WHERE m.definition = c.definition AND m.profile_key = c.key`,
};

async function writeMemberships(tx: Tx, changes: readonly Change[]): Promise<void> {
  const [inserted, updated, removed]: [Transition[], Transition[], Transition[]] = [[], [], []];
  for (const { first, last } of changes) {
    const wasMember = isMember(first.kind, first.previous);
    if (isMember(last.kind, last.value)) (wasMember ? updated : inserted).push(last);
    else if (wasMember) removed.push(last);
  }
  if (inserted.length > 0) await tx.query(INSERT, membershipsOf(inserted));
  if (updated.length > 0) await tx.query(UPDATE, membershipsOf(updated));
  if (removed.length > 0) await tx.query(REMOVE, namesOf(removed));
}

function membershipsOf(transitions: readonly Transition[]): Buffer[] {
  return [
    ...namesOf(transitions),
    int8Array(transitions.map(({ at }) => at)),
    int4Array(transitions.map(({ sequence }) => sequence)),
    textArray(transitions.map(({ kind, value }) => (kind === 'audience' ? undefined : JSON.stringify(value)))),
  ];
}

function namesOf(transitions: readonly Transition[]): [Buffer, Buffer] {
  return [int4Array(transitions.map(({ definition }) => definition)), uuidArray(transitions.map(({ key }) => key))];
}

const HISTORY: Statement = {
  name: 'membership-changes-add',
  text: `INSERT INTO membership_changes (definition, profile_key, at, sequence, cause, value, message_id, written_on)
    SELECT c.*, (now() AT TIME ZONE 'UTC')::date
    FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::text[], $6::text[], $7::text[]) AS c`,
};

async function writeHistory(tx: Tx, given: readonly Transition[]): Promise<void> {
  const transitions = given.toSorted(compareKeys);
  await tx.query(HISTORY, [
    ...namesOf(transitions),
    int8Array(transitions.map(({ at }) => at)),
    int4Array(transitions.map(({ sequence }) => sequence)),
    textArray(transitions.map(({ cause }) => cause)),
    textArray(transitions.map(({ value }) => JSON.stringify(value))),
    textArray(transitions.map(({ messageId }) => messageId)),
  ]);
}

/** A row that waits keeps its time and what was sent before it; a first sync that coalesces with a later change is urgent. */
const COALESCE: Statement = {
  name: 'compute-outbox-coalesce',
  text: `UPDATE compute_outbox o SET at = c.at, sequence = c.sequence, value = c.value, is_first_sync = o.is_first_sync AND c.is_first_sync
    FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::bool[], $6::text[])
      WITH ORDINALITY AS c (definition, key, at, sequence, is_first_sync, value, place)
    WHERE o.profile_key = c.key AND o.definition = c.definition AND o.destination = '' AND o.batch IS NULL
    RETURNING c.place::int AS place`,
};
const QUEUE: Statement = {
  name: 'compute-outbox-queue',
  text: `INSERT INTO compute_outbox (definition, profile_key, at, sequence, is_first_sync, value, send_at, before)
    SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::bool[], $6::text[], $7::int8[], $8::text[])`,
};

/** Only a reader that has locked the profile adds a row: the relay takes rows away, so a row that was not there is not there now. */
async function writeOutbox(tx: Tx, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const coalesced = await tx.query<{ place: number }>(COALESCE, outboxOf(changes));
  const there = new Set(coalesced.map(({ place }) => place));
  const queued = changes.filter((_, nth) => !there.has(nth + 1));
  if (queued.length === 0) return;
  await tx.query(QUEUE, [
    ...outboxOf(queued),
    int8Array(queued.map(({ first }) => first.sendAt)),
    textArray(queued.map(({ first }) => JSON.stringify(first.previous))),
  ]);
}

function outboxOf(changes: readonly Change[]): Buffer[] {
  const lasts = changes.map(({ last }) => last);
  return [
    ...namesOf(lasts),
    int8Array(lasts.map(({ at }) => at)),
    int4Array(lasts.map(({ sequence }) => sequence)),
    boolArray(changes.map(({ first, last }) => first.isFirstSync === true && last.isFirstSync === true)),
    textArray(lasts.map(({ value }) => JSON.stringify(value))),
  ];
}
