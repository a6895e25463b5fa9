import { MAIN_CELL } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import { arriveSources, SOURCES_ON_THEIR_WAY } from '../store/arrivals.ts';
import type { Store, Tx } from '../store/open-store.ts';
import {
  deleteFromOutbox,
  lockProjection,
  OUTBOX_WAITS,
  type OutboxRow,
  takeDestinationsOf,
  takeFromOutbox,
} from '../store/outbox.ts';
import { usersToProject } from '../store/erased-users.ts';
import { clearFailures, setAside } from '../store/projection-failures.ts';
import {
  destinationsToProject,
  type ProjectedDestination,
  type ProjectedSource,
  sourcesToProject,
} from '../store/projection.ts';
import { configKey } from '../stream/config/config-bucket.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { destinationEntry, sourceEntry, userEntry } from './config-entries.ts';
import type { EntryChange } from './write-changes.ts';
import { writeInOrder } from './write-in-order.ts';

export type ProjectionNeeds = {
  store: Store;
  configWriter: ConfigWriter;
  /** Whose bucket the writer writes; `main` by default. */
  cell?: string;
  /** Whether this bucket is known to have been compared as a whole: sources on their way to the cell may arrive. */
  mayArrive?: boolean;
  log: Logger;
};
/** `busy`: another process holds the lock. `more`: changes may be left. `arrived`: every cell has new changes. */
export type Projected = 'busy' | 'more' | 'arrived' | 'done';

const BATCH = 1_000;
const HAS_WORK = `${OUTBOX_WAITS} OR ${SOURCES_ON_THEIR_WAY}`;

/**
 * Projects the oldest changes of the outbox, at least once: it writes the bucket before it commits the transaction that deletes
 * them, so that a crash repeats and never loses. It writes the row as it is now, so a repetition does no harm. A process that
 * stalls between reading and writing may write an old row after it lost its lock: the repair finds that. An entry that the
 * bucket refuses is set aside with the reason, and the next ones go on.
 */
export async function projectChanges({
  store,
  configWriter,
  cell = MAIN_CELL,
  mayArrive = true,
  log,
}: ProjectionNeeds): Promise<Projected> {
  if (!(await store.holds(HAS_WORK))) return 'done';
  return store.asSystem(async (tx) => {
    if (!(await lockProjection(tx, cell))) return 'busy';
    const oldest = await takeFromOutbox(tx, BATCH, cell);
    const left = oldest.length === 0 ? 0 : await project(oldest, { tx, configWriter, cell, log });
    const arrived = mayArrive ? await arriveSources(tx, cell) : 0;
    if (arrived > 0) log.info({ sources: arrived }, 'sources.arrived');
    if (arrived > 0) return 'arrived';
    return oldest.length === BATCH || left > 0 ? 'more' : 'done';
  });
}

type BatchNeeds = { tx: Tx; configWriter: ConfigWriter; cell: string; log: Logger };

/** Returns the number of changes for which the time was too short. */
async function project(oldest: OutboxRow[], { tx, configWriter, cell, log }: BatchNeeds): Promise<number> {
  const spread = await spreadSources(tx, oldest);
  const rows = spread.length === 0 ? oldest : joinRows(oldest, await takeDestinationsOf(tx, spread, cell));
  const changes = await changesFor(tx, rows, cell);
  const { written, refused, left } = await writeInOrder(changes, { tx, configWriter, cell, spread });
  const fresh = await setAside(
    tx,
    refused.map(({ change, why }) => ({ ...change, why })),
    cell,
  );
  for (const { change, why } of refused) {
    if (fresh.has(change.objectId)) log.error({ key: change.key, why }, 'projection.set_aside');
  }
  const cleared = await clearFailures(
    tx,
    written.map(({ objectId }) => objectId),
    cell,
  );
  for (const objectId of cleared) log.info({ objectId }, 'projection.caught_up');
  const untried = new Set(left.map(({ objectId }) => objectId));
  const done = rows.filter((row) => !untried.has(row.object_id));
  await deleteFromOutbox(
    tx,
    done.map((row) => row.id),
  );
  return left.length;
}

/**
 * Sources of several cells. Deliver takes requests of such a source when its entry names the cell, so the entry must come behind those of
 * its destinations. An older change of the source may be before theirs in the outbox, and the row that is written is the current one:
 * so all changes of its destinations are projected with it, and before it.
 */
async function spreadSources(tx: Tx, rows: OutboxRow[]): Promise<string[]> {
  const ids = rows.filter((row) => row.kind === 'source').map((row) => row.object_id);
  const isSpread = ({ cell, spare, next_cell: next, former_cells: former }: ProjectedSource) =>
    cell !== MAIN_CELL || spare !== null || next !== null || former.length > 0;
  return (await sourcesToProject(tx, ids)).filter(isSpread).map(({ id }) => id);
}

function joinRows(rows: OutboxRow[], others: OutboxRow[]): OutboxRow[] {
  return [...new Map([...rows, ...others].map((row) => [row.id, row])).values()];
}

/** The current entry of each object in the outbox, in its order; undefined where the row is gone. */
async function changesFor(tx: Tx, rows: OutboxRow[], cell: string): Promise<EntryChange[]> {
  const wanted = new Map<string, EntryChange>(
    rows.map(({ kind, workspace_id: workspaceId, object_id: objectId }) => {
      const key = configKey[kind](objectId);
      return [key, { key, kind, workspaceId, objectId, value: undefined }];
    }),
  );
  const ids = (kind: OutboxRow['kind']) => rows.filter((row) => row.kind === kind).map((row) => row.object_id);
  const sources = await sourcesToProject(tx, ids('source'));
  const { here, elsewhere } = sortByCell(await destinationsToProject(tx, ids('destination'), cell));
  const users = await usersToProject(tx, ids('user'));
  const entries = [...sources.map(sourceEntry), ...here.map(destinationEntry), ...users.map(userEntry)];
  for (const { key, value } of entries) {
    const change = wanted.get(key);
    if (change !== undefined) change.value = value;
  }
  // The bucket has no entry of a destination of another cell; where a comparison found one, it goes.
  const repaired = new Set(rows.filter((row) => row.is_repair).map((row) => row.object_id));
  for (const { id } of elsewhere) if (!repaired.has(id)) wanted.delete(configKey.destination(id));
  return [...wanted.values()];
}

function sortByCell(rows: ProjectedDestination[]) {
  const { here = [], elsewhere = [] } = Object.groupBy(rows, ({ is_here: isHere }) => (isHere ? 'here' : 'elsewhere'));
  return { here, elsewhere };
}
