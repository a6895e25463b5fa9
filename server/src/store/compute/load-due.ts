import type { StoredProfile } from '../../compute/profiles/profile-store.ts';
import type { ProfileKey } from '../../compute/profiles/profile-key.ts';
import type { Statement, Tx } from '../open-store.ts';
import { type PackedProfiles, PACKED_PROFILES, unpackOnlyProfiles } from './packed-profiles.ts';

/** A locked profile is skipped and not waited for, so these locks need no order; it is due again for the next transaction. */
const DUE: Statement = {
  name: 'profiles-due',
  text: `SELECT ${PACKED_PROFILES} FROM (
      SELECT p.* FROM profile_timers t JOIN profiles p ON p.profile_key = t.profile_key
      WHERE t.due_at <= $1 ORDER BY t.due_at, t.profile_key LIMIT $2 FOR NO KEY UPDATE OF p SKIP LOCKED) AS due
    WHERE due_at <= $1`,
};

export async function loadDueProfiles(
  tx: Tx,
  { upTo, most }: { upTo: number; most: number },
  workspaceOf: (key: ProfileKey) => string,
): Promise<StoredProfile[]> {
  const [row] = await tx.query<PackedProfiles>(DUE, [upTo, most]);
  return unpackOnlyProfiles(row, workspaceOf);
}
