import type { FoldTx, HeldPosition, ProfileStore } from '../../compute/profiles/profile-store.ts';
import { prefixOfKey, type ProfileKey, workspacePrefix } from '../../compute/profiles/profile-key.ts';
import type { Store, Tx } from '../open-store.ts';
import { claimBatch, type ClaimedBatch, deleteBatch, readBatch } from './transition-outbox.ts';
import {
  definitionsAfter,
  HAS_DEFINITIONS,
  hasReadyWorkspaces,
  markIncomplete,
  startFolding,
} from '../definitions/definition-changes.ts';
import { loadDueProfiles } from './load-due.ts';
import { loadProfiles } from './load-profiles.ts';
import {
  forgetPositions,
  type HolderView,
  listPositions,
  lockPosition,
  movePosition,
  releasePosition,
  takeOverPosition,
} from './positions.ts';
import { countErasures } from '../erased-users.ts';
import { addSizes, sizeChanges } from './sizes.ts';
import { type Locks, writeLinks, writeProfiles } from './write-profiles.ts';
import { writeTransitions } from './write-transitions.ts';

/**
 * For the rest of the transaction. Batches differ in nothing that a plan depends on, so each statement is planned once for a connection,
 * and always as lookups by index, whatever the statistics of a table that has just been filled say.
 */
const PLANNING = `SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off`;

/** For work beside the streams: a fold with the transaction itself, so that other tables are written with the profiles. */
export type LifecycleStore = ProfileStore & {
  foldWith<T>(held: HeldPosition, work: (tx: FoldTx, sql: Tx) => Promise<T>): Promise<T>;
};

/** Profiles in PostgreSQL. Readers hold their connection for most of the time: give it a store of its own. */
export function openProfileStore(store: Store): LifecycleStore {
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

  const foldWith: LifecycleStore['foldWith'] = (held, work) =>
    inTurn(held, async (tx, view) => {
      await makeHistoryDay(view.today);
      await workspaces.refresh(tx, view.definitionsVersion);
      return work(foldTx({ tx, held, view, workspaceOf: workspaces.of }), tx);
    });

  return {
    takeOver: (stream, holder) => store.asSystem((tx) => takeOverPosition(tx, stream, holder)),
    positions: () => store.asSystem(listPositions),
    release: (held) => store.asSystem((tx) => releasePosition(tx, held)),
    hasDefinitions: () => store.holds(HAS_DEFINITIONS),
    countsFromTheBeginning: () => store.asSystem(hasReadyWorkspaces),
    forgetPositions: () => store.asSystem(forgetPositions),
    fold: (held, work) => foldWith(held, work),
    foldWith,
    ...openRelaySide(inTurn),
  };
}

type InTurn = <T>(held: HeldPosition, work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Remembers the batch that is being sent. In doubt, after a takeover and after a failure, it asks the database. */
function openRelaySide(inTurn: InTurn): Pick<ProfileStore, 'claimBatch' | 'deleteBatch'> {
  let known: { epoch: number; batch: ClaimedBatch | undefined } | undefined;

  /** The memory changes when the transaction is committed. */
  async function settle(held: HeldPosition, work: (tx: Tx) => Promise<ClaimedBatch | undefined>) {
    try {
      known = { epoch: held.epoch, batch: await inTurn(held, work) };
      return known.batch;
    } catch (error) {
      known = undefined;
      throw error;
    }
  }

  return {
    async claimBatch(held, options) {
      const claimed = await settle(held, async (tx) => {
        const isFree = known?.epoch === held.epoch && known.batch === undefined;
        // A batch is read again, because a user in it may have been erased.
        return (isFree ? undefined : await readBatch(tx)) ?? claimBatch(tx, options);
      });
      return claimed && { batch: claimed.batch, transitions: claimed.transitions };
    },
    async deleteBatch(held, batch) {
      await settle(held, async (tx) => {
        const sending = known?.epoch === held.epoch ? known.batch : await readBatch(tx);
        if (sending?.batch !== batch) return sending;
        await deleteBatch(tx, sending);
        return undefined;
      });
    },
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
    erasures: () => countErasures(tx),
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
