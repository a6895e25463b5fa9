import type { ComputedValue, DefinitionNumber, TransitionCause } from '../../compute/profiles/profile-store.ts';
import type { IdKind, ProfileKey } from '../../compute/profiles/profile-key.ts';
import type { Tx } from '../open-store.ts';
import { readInOrder } from '../rows.ts';

export type Membership = {
  key: ProfileKey;
  kind: IdKind;
  id: string;
  /** True for a member of an audience. */
  value: ComputedValue;
  sequence: number;
  since: Date;
};

export type MembershipPage = { limit: number; after: ProfileKey | undefined };

type MembershipRow = Omit<Membership, 'value'> & { value: string | null };

const KIND = `CASE WHEN p.is_user THEN 'user' ELSE 'anonymous' END AS kind`;
const timeOf = (column: string) => `to_timestamp(${column} / 1000.0)`;

/** Members of an audience, or profiles with a value of a trait, in the order of their keys. */
export async function listMemberships(
  tx: Tx,
  definition: number,
  { limit, after }: MembershipPage,
): Promise<Membership[]> {
  await readInOrder(tx);
  const sql = `SELECT replace(m.profile_key::text, '-', '') AS key, ${KIND}, p.id, m.value, m.sequence, ${timeOf('m.since')} AS since
    FROM memberships m JOIN profiles p ON p.profile_key = m.profile_key
    WHERE m.definition = $1 AND ($2::uuid IS NULL OR m.profile_key > $2) ORDER BY m.profile_key LIMIT $3`;
  const rows = await tx.query<MembershipRow>(sql, [definition, after ?? null, limit]);
  return rows.map((row) => ({ ...row, value: row.value === null ? true : JSON.parse(row.value) }));
}

export type MembershipChange = {
  /** Sorts by when it was written; the cursor of a page. */
  change: string;
  definition: number;
  key: ProfileKey;
  /** Undefined when the profile was merged into another and the id is no profile any more. */
  profile: { kind: IdKind; id: string } | undefined;
  at: Date;
  value: ComputedValue;
  sequence: number;
  cause: TransitionCause;
  messageId: string | undefined;
};

type ChangeRow = {
  change: string;
  definition: number;
  key: ProfileKey;
  kind: IdKind | null;
  id: string | null;
  at: Date;
  value: string;
  sequence: number;
  cause: TransitionCause;
  message_id: string | null;
};

const CHANGE_COLUMNS = `c.id::text AS change, c.definition, replace(c.profile_key::text, '-', '') AS key, ${KIND}, p.id,
  ${timeOf('c.at')} AS at, c.value, c.sequence, c.cause, c.message_id`;

export type ChangePage = { limit: number; after: string | undefined };

/** The history of a definition, newest first. */
export async function listChanges(
  tx: Tx,
  definition: number,
  { limit, after }: ChangePage,
): Promise<MembershipChange[]> {
  await readInOrder(tx);
  const sql = `SELECT ${CHANGE_COLUMNS} FROM membership_changes c LEFT JOIN profiles p ON p.profile_key = c.profile_key
    WHERE c.definition = $1 AND ($2::bigint IS NULL OR c.id < $2) ORDER BY c.id DESC LIMIT $3`;
  return (await tx.query<ChangeRow>(sql, [definition, after ?? null, limit])).map(changeOf);
}

/** The latest changes of one profile in one definition, newest first. */
export async function listChangesOf(
  tx: Tx,
  { key, definition }: { key: ProfileKey; definition: number },
  limit: number,
): Promise<MembershipChange[]> {
  await readInOrder(tx);
  const sql = `SELECT ${CHANGE_COLUMNS} FROM membership_changes c LEFT JOIN profiles p ON p.profile_key = c.profile_key
    WHERE c.profile_key = $1 AND c.definition = $2 ORDER BY c.sequence DESC LIMIT $3`;
  return (await tx.query<ChangeRow>(sql, [key, definition, limit])).map(changeOf);
}

function changeOf({ kind, id, value, message_id, ...rest }: ChangeRow): MembershipChange {
  const profile = kind === null || id === null ? undefined : { kind, id };
  return { ...rest, profile, value: JSON.parse(value), messageId: message_id ?? undefined };
}

export type OwnMembership = { definition: DefinitionNumber; value: ComputedValue; sequence: number; since: Date };

/** Of these definitions: the table has no index by profile alone, and a state says which ones to look for. */
export async function membershipsOf(
  tx: Tx,
  key: ProfileKey,
  definitions: readonly DefinitionNumber[],
): Promise<OwnMembership[]> {
  const sql = `SELECT definition, value, sequence, to_timestamp(since / 1000.0) AS since FROM memberships
    WHERE definition = ANY($2) AND profile_key = $1 ORDER BY definition`;
  const rows = await tx.query<Omit<OwnMembership, 'value'> & { value: string | null }>(sql, [key, definitions]);
  return rows.map((row) => ({ ...row, value: row.value === null ? true : JSON.parse(row.value) }));
}

export type WaitingTransition = { sequence: number; value: ComputedValue };

/** Transitions of a profile and definition that are not sent yet. */
export async function waitingOf(tx: Tx, key: ProfileKey, definition: DefinitionNumber): Promise<WaitingTransition[]> {
  const sql =
    'SELECT sequence, value FROM compute_outbox WHERE profile_key = $1 AND definition = $2 ORDER BY sequence DESC';
  const rows = await tx.query<{ sequence: number; value: string }>(sql, [key, definition]);
  return rows.map(({ sequence, value }) => ({ sequence, value: JSON.parse(value) }));
}
