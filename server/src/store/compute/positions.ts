import {
  type HeldPosition,
  LostPosition,
  type Position,
  type PositionState,
} from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';

type PositionRow = {
  stream: string;
  epoch: number;
  holder: string | null;
  created_at: number | null;
  sequence: number | null;
  stored_at: number | null;
  clock: number | null;
  left_sequences: number[];
  beat: string;
  definitions_version: number;
};

// The driver returns bigint as text; sequences and times are below 2^53.
const COLUMNS = `stream, epoch::float8 AS epoch, holder, stream_created_at::float8 AS created_at, sequence::float8 AS sequence,
  stored_at::float8 AS stored_at, clock::float8 AS clock, left_sequences::float8[] AS left_sequences, p.xmin::text AS beat,
  definitions_version::float8 AS definitions_version`;

export async function takeOverPosition(tx: Tx, stream: string, holder: string): Promise<HeldPosition> {
  const sql = `INSERT INTO compute_positions AS p (stream, epoch, holder) VALUES ($1, 1, $2)
    ON CONFLICT (stream) DO UPDATE SET epoch = p.epoch + 1, holder = excluded.holder RETURNING ${COLUMNS}`;
  const [row] = await tx.query<PositionRow>(sql, [stream, holder]);
  if (row === undefined) throw new Error('an insert gave no row');
  return heldOf(row);
}

export async function listPositions(tx: Tx): Promise<PositionState[]> {
  const rows = await tx.query<PositionRow>(`SELECT ${COLUMNS} FROM compute_positions p ORDER BY stream`);
  return rows.map((row) => ({
    ...heldOf(row),
    holder: row.holder ?? undefined,
    beat: row.beat,
    definitionsVersion: row.definitions_version,
  }));
}

export async function releasePosition(tx: Tx, { stream, epoch }: HeldPosition): Promise<void> {
  await tx.query('UPDATE compute_positions SET holder = NULL WHERE stream = $1 AND epoch = $2', [stream, epoch]);
}

/**
 * Without definitions nothing is read, and streams are trimmed without regard to positions: a later definition begins with what is stored
 * then, and must not take the time in between for a loss. A reader that does not know yet writes its position again.
 */
export async function forgetPositions(tx: Tx): Promise<void> {
  await tx.query(`UPDATE compute_positions SET stream_created_at = NULL, sequence = NULL, stored_at = NULL, clock = NULL, left_sequences = '{}'
    WHERE sequence IS NOT NULL AND NOT EXISTS (SELECT FROM definitions WHERE state <> 'deleted')`);
}

function heldOf(row: PositionRow): HeldPosition {
  const { stream, epoch, created_at: createdAt, sequence, stored_at: storedAt, clock, left_sequences: left } = row;
  const isNew = createdAt === null || sequence === null || storedAt === null || clock === null;
  return { stream, epoch, position: isNew ? undefined : { createdAt, sequence, storedAt, clock, left } };
}

/** Read at the beginning of every transaction of a holder. */
export type HolderView = { definitionsVersion: number; today: string };

const LOCK: Statement = {
  name: 'compute-position-lock',
  text: `SELECT v.version::float8 AS "definitionsVersion", ((now() AT TIME ZONE 'UTC')::date)::text AS today
    FROM compute_positions p, compute_version v WHERE p.stream = $1 AND p.epoch = $2 FOR NO KEY UPDATE OF p`,
};

/** Locks the position until the transaction ends: a reader that takes over waits for it. */
export async function lockPosition(tx: Tx, held: HeldPosition): Promise<HolderView> {
  const [row] = await tx.query<HolderView>(LOCK, [held.stream, held.epoch]);
  return row ?? lose(held);
}

const MOVE: Statement = {
  name: 'compute-position-move',
  text: `UPDATE compute_positions SET stream_created_at = $3, sequence = $4, stored_at = $5, clock = $6, left_sequences = $7
    WHERE stream = $1 AND epoch = $2 RETURNING 1 AS one`,
};

export async function movePosition(tx: Tx, held: HeldPosition, position: Position): Promise<void> {
  const { createdAt, sequence, storedAt, clock, left } = position;
  const values = [held.stream, held.epoch, createdAt, sequence, storedAt, clock, left];
  const rows = await tx.query(MOVE, values);
  if (rows.length === 0) lose(held);
}

function lose({ stream, epoch }: HeldPosition): never {
  throw new LostPosition(`another reader has taken over ${stream} from epoch ${epoch}`);
}
