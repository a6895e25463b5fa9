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

function changesOf(transitions: readonly Transition[]): Change[] {
  const changes = new Map<string, Change>();
  for (const transition of transitions) {
    const pair = `${transition.definition} ${transition.key}`;
    const change = changes.get(pair);
    if (change === undefined) changes.set(pair, { first: transition, last: transition });
    else change.last = transition;
  }
  return [...changes.values()];
}

const PUT: Statement = {
  name: 'memberships-put',
  text: `INSERT INTO memberships (definition, profile_key, since, sequence, value)
    SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::text[])
    ON CONFLICT (definition, profile_key) DO UPDATE
      SET since = excluded.since, sequence = excluded.sequence, value = excluded.value`,
};
const REMOVE: Statement = {
  name: 'memberships-remove',
  text: `DELETE FROM memberships m USING unnest($1::int4[], $2::uuid[]) AS c (definition, key)
    WHERE m.definition = c.definition AND m.profile_key = c.key`,
};

async function writeMemberships(tx: Tx, changes: readonly Change[]): Promise<void> {
  const put = changes.filter(({ last }) => isMember(last.kind, last.value)).map(({ last }) => last);
  const removed = changes
    .filter(({ first, last }) => isMember(first.kind, first.previous) && !isMember(last.kind, last.value))
    .map(({ last }) => last);
  if (put.length > 0) {
    await tx.query(PUT, [
      ...namesOf(put),
      int8Array(put.map(({ at }) => at)),
      int4Array(put.map(({ sequence }) => sequence)),
      textArray(put.map(({ kind, value }) => (kind === 'audience' ? undefined : JSON.stringify(value)))),
    ]);
  }
  if (removed.length > 0) await tx.query(REMOVE, namesOf(removed));
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

async function writeHistory(tx: Tx, transitions: readonly Transition[]): Promise<void> {
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
const QUEUE: Statement = {
  name: 'compute-outbox-put',
  text: `INSERT INTO compute_outbox AS o (definition, profile_key, at, sequence, send_at, is_first_sync, value, before)
    SELECT * FROM unnest($1::int4[], $2::uuid[], $3::int8[], $4::int4[], $5::int8[], $6::bool[], $7::text[], $8::text[])
    ON CONFLICT (profile_key, definition, destination) DO UPDATE SET at = excluded.at, sequence = excluded.sequence,
      value = excluded.value, is_first_sync = o.is_first_sync AND excluded.is_first_sync`,
};

async function writeOutbox(tx: Tx, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const lasts = changes.map(({ last }) => last);
  await tx.query(QUEUE, [
    ...namesOf(lasts),
    int8Array(lasts.map(({ at }) => at)),
    int4Array(lasts.map(({ sequence }) => sequence)),
    int8Array(changes.map(({ first }) => first.sendAt)),
    boolArray(changes.map(({ first, last }) => first.isFirstSync === true && last.isFirstSync === true)),
    textArray(lasts.map(({ value }) => JSON.stringify(value))),
    textArray(changes.map(({ first }) => JSON.stringify(first.previous))),
  ]);
}
