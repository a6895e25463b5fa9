import { hash } from 'node:crypto';
import type { Store, Tx } from '../store/open-store.ts';
import { addRepairsToOutbox, hasRepairsWaiting, type Projected } from '../store/outbox.ts';
import { pageOfUsers } from '../store/erased-users.ts';
import { pageOfDestinations, pageOfSources } from '../store/projection.ts';
import type { Page } from '../store/rows.ts';
import { readConfigKey } from '../stream/config-bucket.ts';
import type { ConfigWriter } from '../stream/config-writer.ts';
import { type ConfigEntry, destinationEntry, sourceEntry, userEntry } from './config-entries.ts';

export type RepairNeeds = { store: Store; configWriter: ConfigWriter };

/** What is left of the bucket's entries while the rows are gone through: enough to see a difference, not the entry. */
type Seen = Map<string, { digest: string; workspaceId: string }>;

const PAGE = 500;

/**
 * Compares the whole bucket with all rows, both ways. It writes nothing itself: what differs goes into the outbox, where
 * the projector takes it in turn with the changes that happen meanwhile. Answers how many entries differed.
 */
export async function repairConfig({ store, configWriter }: RepairNeeds): Promise<number> {
  if (await store.asSystem(hasRepairsWaiting)) return 0;
  const seen = await readBucket(configWriter);
  const sources = await comparePages({ store, configWriter }, seen, {
    page: async (tx, page) => (await pageOfSources(tx, page)).map((row) => ({ ...row, entry: sourceEntry(row) })),
  });
  const destinations = await comparePages({ store, configWriter }, seen, {
    page: async (tx, page) =>
      (await pageOfDestinations(tx, page)).map((row) => ({ ...row, entry: destinationEntry(row) })),
  });
  const users = await comparePages({ store, configWriter }, seen, {
    page: async (tx, page) => (await pageOfUsers(tx, page)).map((row) => ({ ...row, entry: userEntry(row) })),
  });
  const left = await repairLeftOvers(store, seen);
  return sources + destinations + users + left;
}

async function readBucket(configWriter: ConfigWriter): Promise<Seen> {
  const seen: Seen = new Map();
  await configWriter.readAll((key, value) => {
    seen.set(key, { digest: digestOf(value), workspaceId: workspaceOf(value) });
  });
  return seen;
}

type Row = { id: string; workspace_id: string; entry: ConfigEntry };

/** Goes through the rows page by page, each in a short transaction of its own; what was compared leaves `seen`. */
async function comparePages(
  { store, configWriter }: RepairNeeds,
  seen: Seen,
  { page }: { page(tx: Tx, page: Page): Promise<Row[]> },
): Promise<number> {
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after;
    const rows = await store.asSystem((tx) => page(tx, { limit: PAGE, after: from }));
    const differing = rows.filter(
      ({ entry }) => seen.get(entry.key)?.digest !== digestOf(configWriter.textOf(entry.key, entry.value)),
    );
    for (const { entry } of rows) seen.delete(entry.key);
    await addRepairs(
      store,
      differing.flatMap(({ entry, workspace_id }) => toRepair(entry.key, workspace_id)),
    );
    count += differing.length;
    after = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  }
  return count;
}

/** Entries without a row. */
async function repairLeftOvers(store: Store, seen: Seen): Promise<number> {
  const repairs = [...seen].flatMap(([key, { workspaceId }]) => toRepair(key, workspaceId));
  for (let start = 0; start < repairs.length; start += PAGE) {
    await addRepairs(store, repairs.slice(start, start + PAGE));
  }
  return repairs.length;
}

async function addRepairs(store: Store, repairs: Projected[]): Promise<void> {
  if (repairs.length > 0) await store.asSystem((tx) => addRepairsToOutbox(tx, repairs));
}

function toRepair(key: string, workspaceId: string): Projected[] {
  const named = readConfigKey(key);
  return named === undefined ? [] : [{ kind: named.kind, objectId: named.id, workspaceId }];
}

function digestOf(value: string): string {
  return hash('sha1', value, 'base64');
}

/** An entry that somebody broke is still one to repair. */
function workspaceOf(value: string): string {
  return /"workspaceId":"(\w+)"/.exec(value)?.[1] ?? '';
}
