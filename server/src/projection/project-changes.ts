import { MAIN_CELL } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
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

/** `cell`: whose bucket the writer writes; `main` by default. */
export type ProjectionNeeds = { store: Store; configWriter: ConfigWriter; cell?: string; log: Logger };
/** `busy`: another process holds the lock. `more`: changes may be left. */
export type Projected = 'busy' | 'more' | 'done';

const BATCH = 1_000;

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
  log,
}: ProjectionNeeds): Promise<Projected> {
  if (!(await store.holds(OUTBOX_WAITS))) return 'done';
  return store.asSystem(async (tx) => {
    if (!(await lockProjection(tx, cell))) return 'busy';
    const oldest = await takeFromOutbox(tx, BATCH, cell);
    if (oldest.length === 0) return 'done';
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
    return oldest.length === BATCH || left.length > 0 ? 'more' : 'done';
  });
}

/**
 * Sources of several cells. Deliver takes requests of such a source when its entry names the cell, so the entry must come behind those of
 * its destinations. An older change of the source may be before theirs in the outbox, and the row that is written is the current one:
 * so all changes of its destinations are projected with it, and before it.
 */
async function spreadSources(tx: Tx, rows: OutboxRow[]): Promise<string[]> {
  const ids = rows.filter((row) => row.kind === 'source').map((row) => row.object_id);
  const isSpread = ({ cell, spare, former_cells: former }: ProjectedSource) =>
    cell !== MAIN_CELL || spare !== null || former.length > 0;
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
