/**
 * Marks of erased and suppressed users, whose events are left out. They are read before a transaction; when it has locked its profiles, it
 * compares the number of erasures with theirs, because an erasure may have come in between.
 */
import type { AcceptedEvent } from '@millrace/contract';
import type { FoldTx } from './profile-store.ts';

export type WithheldUsers = {
  /** Reads the marks of these workspaces, unless they are as new as the last number of erasures that was seen. */
  refresh(workspaceIds: Iterable<string>): Promise<void>;
  /** Of a workspace whose marks were read. */
  marksOf(workspaceId: string): Marks | undefined;
  /** A transaction has found this number of erasures. */
  seen(erasures: number): void;
};

export type Marks = {
  /** All up to this one are in it. */
  erasures: number;
  isWithheld(sourceId: string, event: AcceptedEvent): boolean;
};

/** With the locks of its profiles: an erasure that came before them is counted, and one that comes later waits for them. */
export async function areNew(marks: Iterable<Marks | undefined>, tx: FoldTx, users: WithheldUsers): Promise<boolean> {
  const erasures = await tx.erasures();
  users.seen(erasures);
  return [...marks].every((each) => each?.erasures === erasures);
}
