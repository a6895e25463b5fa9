/**
 * The store of a control process, from its start on. It is `waiting` while the database does not answer, `refused` while control
 * cannot use it, for example because its migrations and this version do not fit, and `open` from then on. `keepOpening` tries to leave the first two, with exponential
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
  /** Whether collect or deliver run in this process: then no error of the database ends the start. */
  sharesProcess?: boolean;
  log: Logger;
};

export type OpenedStore = Store & {
  /** Why this version does not use the database; undefined when it does, or when the database has not answered yet. */
  refusal(): string | undefined;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** How long the start of a process with other roles waits for the first try. */
const PATIENCE_MS = 10_000;
const HOW_TO_GO_ON =
  'Control waits and tries again; collect and deliver go on. `millrace upgrade-check` and `millrace doctor` say what to do: docs/run/upgrading.md';

/**
 * Migrates and opens the database. A database that is down, or whose migrations do not fit, does not stop the process, because its
 * other roles do not need it: until the database is open, every query throws StoreUnavailable or StoreRefused. Any other error
 * of the first try (a wrong key ring, a missing fence) ends the start of a process with control alone, and of no other.
 */
export async function openStoreWhenUp(needs: OpenNeeds): Promise<OpenedStore> {
  const found: Found = { store: undefined, refusal: undefined };
  const stop = new AbortController();
  const first = open(found, needs, { mayThrow: needs.sharesProcess !== true, signal: stop.signal });
  const again = () => open(found, needs, { mayThrow: false, signal: stop.signal });
  // A long migration holds up control, and not the roles beside it.
  await (needs.sharesProcess === true ? Promise.race([first, pause(PATIENCE_MS, stop.signal)]) : first);
  const opening = first.then((isOpen) => (isOpen ? undefined : keepOpening(again, stop.signal)));
  const opened = (): Store => {
    if (found.refusal !== undefined) throw new StoreRefused(found.refusal);
    if (found.store === undefined)
      throw new StoreUnavailable('the database is not open yet: it has not answered, or its migration still runs');
    return found.store;
  };
  return {
    refusal: () => found.refusal,
    inWorkspace: async (workspaceId, work) => opened().inWorkspace(workspaceId, work),
    readWorkspace: async (workspaceId, work) => opened().readWorkspace(workspaceId, work),
    asSystem: async (work) => opened().asSystem(work),
    holds: async (condition) => opened().holds(condition),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await found.store?.[Symbol.asyncDispose]();
    },
  };
}

type Try = { mayThrow: boolean; signal: AbortSignal };
type Found = { store: Store | undefined; refusal: string | undefined };

/** One try; resolves with whether the store is open. `mayThrow`: an error that is neither of the two states is thrown. */
async function open(found: Found, needs: OpenNeeds, { mayThrow, signal }: Try): Promise<boolean> {
  try {
    found.store = await openPrepared(needs, signal);
    found.refusal = undefined;
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const why = error instanceof Error ? error.message : String(error);
    if (isUnavailable(error)) {
      found.refusal = undefined;
      needs.log.warn({ why }, 'database.waiting');
      return false;
    }
    if (mayThrow && !(error instanceof MigrationRefused)) throw error;
    // Every ten seconds the same: the log has it once.
    if (why !== found.refusal) needs.log.error({ error: why, how: HOW_TO_GO_ON }, 'database.refused');
    found.refusal = why;
    return false;
  }
}

async function openPrepared(needs: OpenNeeds, signal: AbortSignal): Promise<Store> {
  const { databaseUrl, migrationDatabaseUrl, prepare, log } = needs;
  const { applied, unknown } = await migrateDatabase(migrationDatabaseUrl, databaseUrl, { signal });
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

async function keepOpening(open: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    await pause(pauseMs, signal);
    if (signal.aborted || (await open())) return;
  }
}
