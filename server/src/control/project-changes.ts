import type { Logger } from '../log.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { deleteFromOutbox, lockProjection, type OutboxRow, takeFromOutbox } from '../store/outbox.ts';
import { usersToProject } from '../store/erased-users.ts';
import { destinationsToProject, sourcesToProject } from '../store/projection.ts';
import { configKey } from '../stream/config-bucket.ts';
import type { ConfigChange, ConfigWriter } from '../stream/config-writer.ts';
import { destinationEntry, sourceEntry, userEntry } from './config-entries.ts';

export type ProjectionNeeds = { store: Store; configWriter: ConfigWriter; log: Logger };
/** `busy`: another process is at it. `more`: there may be changes left. */
export type Projected = 'busy' | 'more' | 'done';

const BATCH = 1_000;

/**
 * Tells the bucket of the oldest changes. The bucket is written before the transaction that forgets them is committed, so
 * that a crash repeats, never loses. What is written is the row as it is now, so repeating does no harm either. A process
 * that stalls between reading and writing may still write something old after its lock is gone: the repair finds that.
 */
export function projectChanges({ store, configWriter, log }: ProjectionNeeds): Promise<Projected> {
  return store.asSystem(async (tx) => {
    if (!(await lockProjection(tx))) return 'busy';
    const rows = await takeFromOutbox(tx, BATCH);
    if (rows.length === 0) return 'done';
    const changes = await changesFor(tx, rows);
    await configWriter.write(changes.filter((change) => fits(change, { configWriter, log })));
    await deleteFromOutbox(
      tx,
      rows.map((row) => row.id),
    );
    return rows.length === BATCH ? 'more' : 'done';
  });
}

/** One entry that can never be written must not keep everybody else's changes from being. */
function fits({ key, value = '' }: ConfigChange, { configWriter, log }: Omit<ProjectionNeeds, 'store'>): boolean {
  const bytes = Buffer.byteLength(value);
  const maxBytes = configWriter.maxValueBytes();
  if (bytes > maxBytes) log.error({ key, bytes, maxBytes }, 'projection.entry_too_large');
  return bytes <= maxBytes;
}

/** For everything named in the outbox, its entry as it should be now; undefined where there is no row any more. */
async function changesFor(tx: Tx, rows: OutboxRow[]): Promise<ConfigChange[]> {
  const wanted = new Map<string, string | undefined>(
    rows.map(({ kind, object_id: id }) => [configKey[kind](id), undefined]),
  );
  const ids = (kind: OutboxRow['kind']) => rows.filter((row) => row.kind === kind).map((row) => row.object_id);
  const sources = await sourcesToProject(tx, ids('source'));
  const destinations = await destinationsToProject(tx, ids('destination'));
  const users = await usersToProject(tx, ids('user'));
  const entries = [...sources.map(sourceEntry), ...destinations.map(destinationEntry), ...users.map(userEntry)];
  for (const entry of entries) {
    wanted.set(entry.key, entry.value);
  }
  return [...wanted].map(([key, value]) => ({ key, value }));
}
