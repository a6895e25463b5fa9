import type { FoldTx, HeldPosition, ProfileStore } from '../../compute/profiles/profile-store.ts';
import { prefixOfKey, type ProfileKey, workspacePrefix } from '../../compute/profiles/profile-key.ts';
import type { Store, Tx } from '../open-store.ts';
import { claimBatch, deleteBatch } from './transition-outbox.ts';
import { definitionsAfter, hasDefinitions, markIncomplete, startFolding } from './definition-changes.ts';
import { loadDueProfiles } from './load-due.ts';
import { loadProfiles } from './load-profiles.ts';
import {
  type HolderView,
  listPositions,
  lockPosition,
  movePosition,
  releasePosition,
  takeOverPosition,
} from './positions.ts';
import { addSizes, sizeChanges } from './sizes.ts';
import { type Locks, writeLinks, writeProfiles } from './write-profiles.ts';
import { writeTransitions } from './write-transitions.ts';

/**
 * For the rest of the transaction. Batches differ in nothing that a plan depends on, so each statement is planned once for a connection,
 * and always as lookups by index, whatever the statistics of a table that has just been filled say.
 */
const PLANNING = `SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off`;

/** Profiles in PostgreSQL. Readers hold their connection for most of the time: give it a store of its own. */
export function openProfileStore(store: Store): ProfileStore {
  const workspaces = openWorkspaces();
  const days = new Set<string>();

  /** History has a partition a day. In a transaction of its own, because it locks out those who make other partitions. */
  async function makeHistoryDay(today: string): Promise<void> {
    if (days.has(today)) return;
    const sql = `SELECT make_record_partition('membership_changes', $1::date + ahead, $1::date + ahead + 1) FROM generate_series(0, 1) ahead`;
    await store.asSystem((tx) => tx.query(sql, [today]));
    days.add(today);
  }

  function inTurn<T>(held: HeldPosition, work: (tx: Tx, view: HolderView) => Promise<T>): Promise<T> {
    return store.asSystem(async (tx) => {
      await tx.query(PLANNING);
      return work(tx, await lockPosition(tx, held));
    });
  }

  return {
    takeOver: (stream, holder) => store.asSystem((tx) => takeOverPosition(tx, stream, holder)),
    positions: () => store.asSystem(listPositions),
    release: (held) => store.asSystem((tx) => releasePosition(tx, held)),
    hasDefinitions: () => store.asSystem(hasDefinitions),
    fold: (held, work) =>
      inTurn(held, async (tx, view) => {
        await makeHistoryDay(view.today);
        await workspaces.refresh(tx, view.definitionsVersion);
        return work(foldTx({ tx, held, view, workspaceOf: workspaces.of }));
      }),
    claimBatch: (held, options) => inTurn(held, (tx) => claimBatch(tx, options)),
    deleteBatch: (held, batch) => inTurn(held, (tx) => deleteBatch(tx, batch)),
  };
}

type Folding = { tx: Tx; held: HeldPosition; view: HolderView; workspaceOf(key: ProfileKey): string };

function foldTx({ tx, held, view, workspaceOf }: Folding): FoldTx {
  const locks: Locks = new Map();
  return {
    definitionsVersion: view.definitionsVersion,
    definitions: (after) => definitionsAfter(tx, after),
    startFolding: (starts) => startFolding(tx, held.stream, starts),
    markIncomplete: (since) => markIncomplete(tx, since),
    async load(keys, choose) {
      // A second set of locks would be out of order: see load-profiles.ts.
      if (locks.size > 0) throw new Error('a transaction loads once, and before it loads profiles that are due');
      const { links, profiles, rows } = await loadProfiles(tx, { keys, choose }, workspaceOf);
      for (const [key, row] of rows) locks.set(key, row);
      return { links, profiles };
    },
    async loadDue(upTo, most) {
      const profiles = await loadDueProfiles(tx, { upTo, most }, workspaceOf);
      for (const profile of profiles) locks.set(profile.key, profile);
      return profiles;
    },
    async write(changes) {
      const sizes = sizeChanges(changes, locks, workspaceOf);
      await writeProfiles(tx, changes.profiles, locks);
      await writeTransitions(tx, changes.transitions);
      await writeLinks(tx, changes.links, locks);
      await addSizes(tx, held.stream, sizes);
    },
    moveTo: (position) => movePosition(tx, held, position),
  };
}

/** The workspace of a profile, by the beginning of its key. Only a workspace with a definition has profiles. */
function openWorkspaces() {
  const byPrefix = new Map<string, string>();
  let version = -1;
  return {
    async refresh(tx: Tx, definitionsVersion: number): Promise<void> {
      if (definitionsVersion === version) return;
      const rows = await tx.query<{ id: string }>('SELECT DISTINCT workspace_id AS id FROM definitions');
      for (const { id } of rows) byPrefix.set(workspacePrefix(id), id);
      version = definitionsVersion;
    },
    of(key: ProfileKey): string {
      const workspaceId = byPrefix.get(prefixOfKey(key));
      if (workspaceId === undefined) throw new Error(`profile ${key} belongs to no workspace with a definition`);
      return workspaceId;
    },
  };
}
