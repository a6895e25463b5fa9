/**
 * The store of a control process, from its start on. It is `waiting` while the database does not answer, `refused` while its
 * migrations and this version do not fit, and `open` from then on. `keepOpening` tries to leave the first two, with exponential
 * backoff; nothing leaves `open`.
 */
import type { Logger } from '../log.ts';
import { migrateDatabase } from '../store/migrate-database.ts';
import { MigrationRefused } from '../store/read-migrations.ts';
import { HOW_TO_MEND, judgeLogin, readLogin } from '../store/check-login.ts';
import { isUnavailable, openStore, type Store, StoreRefused, StoreUnavailable } from '../store/open-store.ts';
import { pause } from '../pause.ts';

export type OpenNeeds = {
  databaseUrl: string;
  migrationDatabaseUrl: string;
  /** The rest of the start that needs the database; runs before the first query is let through. */
  prepare(store: Store): Promise<void>;
  log: Logger;
};

export type OpenedStore = Store & {
  /** Why this version does not use the database; undefined when it does, or when the database has not answered yet. */
  refusal(): string | undefined;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const HOW_TO_GO_ON =
  'Control waits and tries again; collect and deliver go on. `millrace upgrade-check` says what to do: docs/run/upgrading.md';

/**
 * Migrates and opens the database. A database that is down, or whose migrations do not fit, does not stop the process, because its
 * other roles do not need it: until the database is open, every query throws StoreUnavailable or StoreRefused.
 */
export async function openStoreWhenUp(needs: OpenNeeds): Promise<OpenedStore> {
  let store: Store | undefined;
  let refusal: string | undefined;
  const stop = new AbortController();
  const open = async (): Promise<boolean> => {
    try {
      store = await openPrepared(needs);
      refusal = undefined;
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof MigrationRefused) {
        // Every ten seconds the same: the log has it once.
        if (why !== refusal) needs.log.error({ error: why, how: HOW_TO_GO_ON }, 'database.refused');
        refusal = why;
        return false;
      }
      if (!isUnavailable(error)) throw error;
      refusal = undefined;
      needs.log.warn({ why }, 'database.waiting');
      return false;
    }
  };
  const opening = (await open()) ? Promise.resolve() : keepOpening(open, stop.signal, needs.log);
  const opened = (): Store => {
    if (refusal !== undefined) throw new StoreRefused(refusal);
    if (store === undefined) throw new StoreUnavailable('the database has not answered yet');
    return store;
  };
  return {
    refusal: () => refusal,
    inWorkspace: async (workspaceId, work) => opened().inWorkspace(workspaceId, work),
    readWorkspace: async (workspaceId, work) => opened().readWorkspace(workspaceId, work),
    asSystem: async (work) => opened().asSystem(work),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await store?.[Symbol.asyncDispose]();
    },
  };
}

async function openPrepared({ databaseUrl, migrationDatabaseUrl, prepare, log }: OpenNeeds): Promise<Store> {
  const { applied, unknown } = await migrateDatabase(migrationDatabaseUrl, databaseUrl);
  if (applied.length > 0) log.info({ applied }, 'database.migrated');
  if (unknown.length > 0)
    log.warn({ unknown, why: 'a newer version applied them, and their mark lets this version work' }, 'database.newer');
  const { missing, liftable } = judgeLogin(await readLogin(databaseUrl));
  if (missing.length > 0) throw new Error(`${missing.join('; ')}. ${HOW_TO_MEND}`);
  if (liftable.length > 0) log.warn({ why: liftable, how: HOW_TO_MEND }, 'database.login_too_strong');
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await openStore(databaseUrl));
  await prepare(store);
  opening.move();
  return store;
}

async function keepOpening(open: () => Promise<boolean>, signal: AbortSignal, log: Logger): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    await pause(pauseMs, signal);
    if (signal.aborted) return;
    try {
      if (await open()) return;
    } catch (error) {
      log.error({ error: error instanceof Error ? error.message : String(error) }, 'database.refused');
    }
  }
}
