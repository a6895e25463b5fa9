import { hash } from 'node:crypto';
import { MAIN_CELL } from '../domain/configuration.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { addRepairsToOutbox, hasRepairsWaiting, type Projected } from '../store/outbox.ts';
import { pageOfUsers } from '../store/erased-users.ts';
import { pageOfDestinations, pageOfSources } from '../store/projection.ts';
import type { Page } from '../store/rows.ts';
import { readConfigKey } from '../stream/config/config-bucket.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { LEFT, type Poison, readEntry, type Seen, setAsidePoison } from './config-poison.ts';
import { type ConfigEntry, destinationEntry, sourceEntry, userEntry } from './config-entries.ts';

export type RepairNeeds = {
  store: Store;
  configWriter: ConfigWriter;
  /** Whose bucket the writer writes; `main` by default. */
  cell?: string;
  /** The operator confirmed that all entries without a row may go. */
  isConfirmed?: boolean;
  /** Called after each comparison with the removals that wait for a confirmation. */
  held?(removals: Removals): void;
};

/** Entries of the bucket that have no row in PostgreSQL, by their kind. */
export type Removals = Record<Projected['kind'], number>;
export const NO_REMOVALS: Removals = { source: 0, destination: 0, user: 0 };
export const totalOf = ({ source, destination, user }: Removals): number => source + destination + user;

const PAGE = 500;

/**
 * Compares the whole bucket with all rows, both ways. It adds the differences to the outbox, where the projector takes them in
 * turn with the changes that happen meanwhile, and writes nothing itself. Resolves with the number of differences.
 */
export async function repairConfig(needs: RepairNeeds): Promise<number> {
  const { store, configWriter, cell, isConfirmed = false } = needs;
  if (!isConfirmed && (await store.asSystem((tx) => hasRepairsWaiting(tx, cell)))) return 0;
  const { seen, poison } = await readBucket(configWriter);
  const entries = seen.size;
  await setAsidePoison(poison, seen, configWriter);
  // A source comes behind its destinations: deliver takes its requests when its entry names the cell.
  const destinations = await comparePages(
    (tx, page) => pageOfDestinations(tx, page, cell),
    destinationEntry,
    seen,
    needs,
  );
  const sources = await comparePages(pageOfSources, sourceEntry, seen, needs);
  const users = await comparePages(pageOfUsers, userEntry, seen, needs);
  const left = await repairLeftOvers(seen, entries, needs);
  return sources + destinations + users + left;
}

async function readBucket(configWriter: ConfigWriter): Promise<{ seen: Seen; poison: Poison[] }> {
  const seen: Seen = new Map();
  const poison: Poison[] = [];
  await configWriter.readAll((key, value, revision) => {
    seen.set(key, { digest: digestOf(value), workspaceId: workspaceOf(value) });
    const read = readEntry(key, value);
    if (read?.ok === false) poison.push({ key, value, revision, problem: read.problem, why: read.why });
  });
  return { seen, poison };
}

/** Compares the rows page by page, each page in a short transaction, and removes each compared entry from `seen`. */
async function comparePages<Row extends { id: string; workspace_id: string; is_here?: boolean }>(
  pageOf: (tx: Tx, page: Page) => Promise<Row[]>,
  entryOf: (row: Row) => ConfigEntry,
  seen: Seen,
  needs: RepairNeeds,
): Promise<number> {
  const { store, configWriter } = needs;
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after;
    const rows = await store.asSystem((tx) => pageOf(tx, { limit: PAGE, after: from }));
    const repairs: Projected[] = [];
    // An entry of a destination of another cell is one too many, as if its row were gone.
    for (const row of rows.filter((each) => each.is_here !== false)) {
      const { key, value } = entryOf(row);
      const isDifferent = !isSame(seen.get(key)?.digest, configWriter.textOf(key, value));
      seen.delete(key);
      if (!isDifferent) continue;
      repairs.push(...toRepair(key, row.workspace_id));
      count += 1;
    }
    await addRepairs(needs, repairs);
    after = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  }
  return count;
}

/** A few entries without a row are leftovers of a crash or of manual changes: they are removed. */
const FEW = 3;
/** More entries, or a larger share of all, more likely mean that the database was restored from an older backup. */
const MANY = { entries: 20, share: 0.1 };

/**
 * Removes the entries without a row. Their deliveries would be given up, so when there are many, all of them wait for the
 * operator's confirmation.
 */
async function repairLeftOvers(seen: Seen, entries: number, needs: RepairNeeds): Promise<number> {
  const { isConfirmed = false, held } = needs;
  const left = [...seen].filter(([, { digest }]) => digest !== LEFT.digest);
  const repairs = left.flatMap(([key, { workspaceId }]) => toRepair(key, workspaceId));
  const isMany = repairs.length > FEW && (repairs.length > MANY.entries || repairs.length > entries * MANY.share);
  const isHeld = isMany && !isConfirmed;
  held?.(isHeld ? countKinds(repairs) : NO_REMOVALS);
  if (isHeld) return repairs.length;
  for (let start = 0; start < repairs.length; start += PAGE) {
    await addRepairs(needs, repairs.slice(start, start + PAGE));
  }
  return repairs.length;
}

function countKinds(repairs: readonly Projected[]): Removals {
  const counts = { ...NO_REMOVALS };
  for (const { kind } of repairs) counts[kind] += 1;
  return counts;
}

async function addRepairs({ store, cell = MAIN_CELL }: RepairNeeds, repairs: Projected[]): Promise<void> {
  if (repairs.length > 0) await store.asSystem((tx) => addRepairsToOutbox(tx, repairs, cell));
}

function toRepair(key: string, workspaceId: string): Projected[] {
  const named = readConfigKey(key);
  return named === undefined ? [] : [{ kind: named.kind, objectId: named.id, workspaceId }];
}

function isSame(digest: string | undefined, value: string): boolean {
  return digest === LEFT.digest || digest === digestOf(value);
}

function digestOf(value: string): string {
  return hash('sha1', value, 'base64');
}

/** Read without parsing: a broken entry is repaired too. */
function workspaceOf(value: string): string {
  return /"workspaceId":"(\w+)"/.exec(value)?.[1] ?? '';
}
