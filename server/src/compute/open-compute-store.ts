/**
 * The database of a compute process. It is waited for while it does not answer, while control has not migrated it, and while this version
 * must not use it; from then on it is open, and each loop waits by itself when the database is away.
 */
import type { Logger } from '../log.ts';
import { pause } from '../pause.ts';
import { HOW_TO_MEND, judgeLogin, readLogin } from '../store/check-login.ts';
import { readMigrationState } from '../store/migrate-database.ts';
import { openStore, type Store } from '../store/open-store.ts';

type StoreWait = {
  databaseUrl: string;
  signal: AbortSignal;
  refused(why: string | undefined): void;
  log: Logger;
};

const PAUSE_MS = { first: 250, most: 5_000 };

/** Undefined when it was stopped before. */
export async function openComputeStore({ databaseUrl, signal, refused, log }: StoreWait): Promise<Store | undefined> {
  let told = '';
  for (let pauseMs = PAUSE_MS.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
    try {
      const why = await whyNot(databaseUrl);
      refused(why);
      if (why === undefined) return await openStore(databaseUrl);
      if (why !== told) log.warn({ why }, 'database.waiting');
      told = why;
    } catch (error) {
      refused(undefined);
      const why = error instanceof Error ? error.message : String(error);
      if (why !== told) log.warn({ why }, 'database.waiting');
      told = why;
    }
    await pause(pauseMs, signal);
  }
  return undefined;
}

async function whyNot(databaseUrl: string): Promise<string | undefined> {
  const { refused, pending } = await readMigrationState(databaseUrl);
  if (refused !== undefined) return refused;
  if (pending.length > 0) return `control has not migrated the database yet: ${pending.join(', ')}`;
  const { missing } = judgeLogin(await readLogin(databaseUrl));
  return missing.length > 0 ? `${missing.join('; ')}. ${HOW_TO_MEND}` : undefined;
}
