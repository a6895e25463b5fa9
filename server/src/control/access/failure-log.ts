/**
 * Writes tries to sign in that were refused to the audit logs of the workspaces of the account. It notes them in memory and writes once
 * a second, after the answers: a known and an unknown address take equally long, and an attack cannot fill a log. An account has one
 * entry a minute, with the number of tries since the one before. A crash loses the last second.
 */
import { appendAudit } from '../../store/audit-log.ts';
import { membershipsOf } from '../../store/members.ts';
import type { Store } from '../../store/open-store.ts';
import { findUsersByEmail } from '../../store/users.ts';
import type { Logger } from '../../log.ts';
import { every } from '../../pause.ts';

export type Refusal = 'wrong_password' | 'too_many_tries' | 'wrong_code' | 'too_many_codes' | 'passkey_refused';
type FailedSignIn = { email: string; address: string; why: Refusal };

export type FailureLog = AsyncDisposable & {
  note(failed: FailedSignIn): void;
  /** Writes the entries that are due now. */
  flush(): Promise<void>;
};

export type FailureLogNeeds = { store: Store; log: Logger; now(): Date };

const EVERY_MS = 1_000;
const ENTRY_EVERY_MS = 60_000;
/** Accounts at one time; refusals of more are not noted. */
const MAX_ACCOUNTS = 5_000;
const MAX_ADDRESSES = 10;

type Noted = { tries: Map<Refusal, number>; addresses: Set<string>; lastAddress: string; writtenAt: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openFailureLog({ store, log, now }: FailureLogNeeds): FailureLog {
  const accounts = new Map<string, Noted>();
  let writing = Promise.resolve();
  const timer = every(EVERY_MS, () => void flush());

  function note({ email, address, why }: FailedSignIn): void {
    const key = email.toLowerCase();
    const noted = accounts.get(key) ?? emptyNote();
    if (!accounts.has(key) && accounts.size >= MAX_ACCOUNTS) return;
    accounts.set(key, noted);
    noted.tries.set(why, (noted.tries.get(why) ?? 0) + 1);
    noted.lastAddress = address;
    if (noted.addresses.size < MAX_ADDRESSES) noted.addresses.add(address);
  }

  function flush(isLast = false): Promise<void> {
    writing = writing
      .then(() => writeDue(isLast))
      .catch((error: unknown) => {
        // The notes stay, and the next flush tries again.
        log.warn({ error: error instanceof Error ? error.message : String(error) }, 'sign_in_failures.unwritten');
      });
    return writing;
  }

  async function writeDue(isLast: boolean): Promise<void> {
    const at = now();
    const isDue = ({ writtenAt }: Noted) => isLast || at.getTime() - writtenAt >= ENTRY_EVERY_MS;
    const due = [...accounts].filter(([, noted]) => isDue(noted));
    for (const [email, noted] of due) if (noted.tries.size === 0) accounts.delete(email);
    const tried = due.filter(([, noted]) => noted.tries.size > 0);
    if (tried.length === 0) return;
    const users = await store.asSystem((tx) =>
      findUsersByEmail(
        tx,
        tried.map(([email]) => email),
      ),
    );
    const idOf = new Map(users.map(({ id, email }) => [email, id]));
    for (const [email, noted] of tried) {
      const userId = idOf.get(email);
      // An address without an account has no audit log.
      if (userId === undefined) accounts.delete(email);
      else await writeOne(email, userId, noted, at);
    }
  }

  /** Tries that are refused meanwhile begin a new note. */
  async function writeOne(email: string, userId: string, noted: Noted, at: Date): Promise<void> {
    accounts.set(email, { ...emptyNote(), writtenAt: at.getTime() });
    try {
      await writeEntries(store, userId, noted, at);
    } catch (error) {
      accounts.set(email, noted);
      throw error;
    }
  }

  return {
    note,
    flush: () => flush(),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await flush(true);
    },
  };
}

function emptyNote(): Noted {
  return { tries: new Map(), addresses: new Set(), lastAddress: '', writtenAt: -Infinity };
}

function writeEntries(store: Store, userId: string, noted: Noted, at: Date): Promise<void> {
  return store.asSystem(async (tx) => {
    const actor = { kind: 'unknown', address: noted.lastAddress };
    const details = { ...Object.fromEntries(noted.tries), addresses: [...noted.addresses] };
    const workspaceIds = (await membershipsOf(tx, userId)).map((member) => member.workspace_id).toSorted();
    for (const workspaceId of workspaceIds) {
      await appendAudit(tx, workspaceId, { at, actor, action: 'session.refused', objectId: userId, details });
    }
  });
}
