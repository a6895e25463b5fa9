import type { Logger } from '../log.ts';
import { migrateDatabase } from '../store/migrate-database.ts';
import { HOW_TO_MEND, judgeLogin, readLogin } from '../store/check-login.ts';
import { isUnavailable, openStore, type Store, StoreUnavailable } from '../store/open-store.ts';
import { pause } from '../pause.ts';

export type OpenNeeds = {
  databaseUrl: string;
  migrationDatabaseUrl: string;
  /** The rest of the start that needs the database; runs before the first query is let through. */
  prepare(store: Store): Promise<void>;
  log: Logger;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Migrates and opens the database. While the database is down, the process starts without it, because its other roles do not
 * need it: until the database answers, every query throws StoreUnavailable.
 */
export async function openStoreWhenUp(needs: OpenNeeds): Promise<Store> {
  let store: Store | undefined;
  const stop = new AbortController();
  const open = async (): Promise<boolean> => {
    try {
      store = await openPrepared(needs);
      return true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      needs.log.warn({ why: error instanceof Error ? error.message : String(error) }, 'database.waiting');
      return false;
    }
  };
  const opening = (await open()) ? Promise.resolve() : keepOpening(open, stop.signal, needs.log);
  const opened = (): Store => {
    if (store === undefined) throw new StoreUnavailable('the database has not answered yet');
    return store;
  };
  return {
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
  const { applied } = await migrateDatabase(migrationDatabaseUrl, databaseUrl);
  if (applied.length > 0) log.info({ applied }, 'database.migrated');
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
