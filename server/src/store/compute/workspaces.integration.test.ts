/** Every table of audiences keeps the workspaces apart, on Debian's PostgreSQL and on a newer one. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { profileKey, workspacePrefix } from '../../compute/profiles/profile-key.ts';
import {
  change,
  newProfile,
  newTransition,
  OTHER_WORKSPACE,
  openProfileBed,
  type ProfileBed,
  WORKSPACE,
} from '../../../testing/profile-store.ts';

const TABLES = ['profiles', 'memberships', 'membership_changes', 'compute_outbox'];
const OWN_TABLES = ['definitions', 'definition_versions', 'membership_sizes', 'profile_counts'];

for (const isNewer of [false, true]) {
  suite(`the tables of audiences on ${isNewer ? 'a newer PostgreSQL' : 'the installed PostgreSQL'}`, () => {
    let bed: ProfileBed;
    before(async () => {
      bed = await openProfileBed({ isNewer });
      const { profiles, audience, otherAudience } = bed;
      const held = await profiles.takeOver('stream', 'a');
      const other = profileKey(OTHER_WORKSPACE, 'user', 'u');
      const both = [newProfile('u', { dueAt: 1 }), newProfile('u', { workspaceId: OTHER_WORKSPACE, dueAt: 1 })];
      const transitions = [newTransition(audience, 'u'), newTransition(otherAudience, 'u', { key: other })];
      await change(profiles, held, { profiles: both, transitions });
      await profiles.claimBatch(await profiles.takeOver('relay', 'a'), { now: 1_000, most: 9, mostOfFirstSyncs: 0 });
      const later = { value: false, previous: true, sequence: 2 } as const;
      const left = [newTransition(audience, 'u', later), newTransition(otherAudience, 'u', { ...later, key: other })];
      await change(profiles, held, { profiles: both, transitions: left });
      const back = { value: true, previous: false, sequence: 3 } as const;
      const again = [newTransition(audience, 'u', back), newTransition(otherAudience, 'u', { ...back, key: other })];
      await change(profiles, held, { profiles: both, transitions: again });
    });
    after(() => bed[Symbol.asyncDispose]());

    test('show a workspace its own rows, also to a query that forgets to ask', async () => {
      for (const table of TABLES) {
        const seen = (workspaceId: string) =>
          bed.store.inWorkspace(workspaceId, (tx) =>
            tx.query<{ key: string }>(`SELECT profile_key::text AS key FROM ${table}`),
          );
        for (const workspaceId of [WORKSPACE, OTHER_WORKSPACE]) {
          const rows = await seen(workspaceId);
          assert.ok(rows.length > 0, table);
          const prefix = workspacePrefix(workspaceId);
          assert.ok(
            rows.every(({ key }) => key.replaceAll('-', '').startsWith(prefix)),
            table,
          );
        }
        assert.deepEqual(await seen('ws_3'), [], table);
      }
      for (const table of OWN_TABLES) {
        const rows = await bed.store.inWorkspace(WORKSPACE, (tx) => tx.query(`SELECT workspace_id FROM ${table}`));
        assert.ok(rows.length > 0 && rows.every((row) => row['workspace_id'] === WORKSPACE), table);
      }
    });

    test('take no row of another workspace, and give none up', async () => {
      const key = profileKey(OTHER_WORKSPACE, 'user', 'intruder');
      const insert = `INSERT INTO profiles (profile_key, is_user, id, state) VALUES ($1, true, 'intruder', '')`;
      await assert.rejects(
        bed.store.inWorkspace(WORKSPACE, (tx) => tx.query(insert, [key])),
        /row-level security/,
      );
      await bed.store.inWorkspace('ws_3', async (tx) => {
        for (const table of TABLES) await tx.query(`DELETE FROM ${table}`);
        await tx.query(`UPDATE profiles SET state = ''`);
      });
      assert.equal(bed.server.run(`SELECT count(*) FROM profiles WHERE state <> ''`).trim(), '2');
    });

    test('hide everything from a transaction that has named no workspace', async () => {
      for (const table of [...TABLES, 'profile_timers']) {
        assert.equal((await bed.store.inWorkspace('', (tx) => tx.query(`SELECT FROM ${table}`))).length, 0, table);
      }
    });
  });
}
