import type { Logger } from '../log.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { deleteFromOutbox, lockProjection, type OutboxRow, takeFromOutbox } from '../store/outbox.ts';
import { usersToProject } from '../store/erased-users.ts';
import { clearFailures, setAside } from '../store/projection-failures.ts';
import { destinationsToProject, sourcesToProject } from '../store/projection.ts';
import { configKey } from '../stream/config/config-bucket.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { destinationEntry, sourceEntry, userEntry } from './config-entries.ts';
import { type EntryChange, writeChanges } from './write-changes.ts';

export type ProjectionNeeds = { store: Store; configWriter: ConfigWriter; log: Logger };
/** `busy`: another process holds the lock. `more`: changes may be left. */
export type Projected = 'busy' | 'more' | 'done';

const BATCH = 1_000;

/**
 * Projects the oldest changes of the outbox, at least once: it writes the bucket before it commits the transaction that deletes
 * them, so that a crash repeats and never loses. It writes the row as it is now, so a repetition does no harm. A process that
 * stalls between reading and writing may write an old row after it lost its lock: the repair finds that. An entry that the
 * bucket refuses is set aside with the reason, and the next ones go on.
 */
export function projectChanges({ store, configWriter, log }: ProjectionNeeds): Promise<Projected> {
  return store.asSystem(async (tx) => {
    if (!(await lockProjection(tx))) return 'busy';
    const rows = await takeFromOutbox(tx, BATCH);
    if (rows.length === 0) return 'done';
    const { written, refused, left } = await writeChanges(await changesFor(tx, rows), configWriter);
    const fresh = await setAside(
      tx,
      refused.map(({ change, why }) => ({ ...change, why })),
    );
    for (const { change, why } of refused) {
      if (fresh.has(change.objectId)) log.error({ key: change.key, why }, 'projection.set_aside');
    }
    const cleared = await clearFailures(
      tx,
      written.map(({ objectId }) => objectId),
    );
    for (const objectId of cleared) log.info({ objectId }, 'projection.caught_up');
    const untried = new Set(left.map(({ objectId }) => objectId));
    const done = rows.filter((row) => !untried.has(row.object_id));
    await deleteFromOutbox(
      tx,
      done.map((row) => row.id),
    );
    return rows.length === BATCH || left.length > 0 ? 'more' : 'done';
  });
}

/** The current entry of each object in the outbox; undefined where the row is gone. */
async function changesFor(tx: Tx, rows: OutboxRow[]): Promise<EntryChange[]> {
  const wanted = new Map<string, EntryChange>(
    rows.map(({ kind, workspace_id: workspaceId, object_id: objectId }) => {
      const key = configKey[kind](objectId);
      return [key, { key, kind, workspaceId, objectId, value: undefined }];
    }),
  );
  const ids = (kind: OutboxRow['kind']) => rows.filter((row) => row.kind === kind).map((row) => row.object_id);
  const sources = await sourcesToProject(tx, ids('source'));
  const destinations = await destinationsToProject(tx, ids('destination'));
  const users = await usersToProject(tx, ids('user'));
  const entries = [...sources.map(sourceEntry), ...destinations.map(destinationEntry), ...users.map(userEntry)];
  for (const { key, value } of entries) {
    const change = wanted.get(key);
    if (change !== undefined) change.value = value;
  }
  return [...wanted.values()];
}
