import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { openLifeBed } from '../../../testing/compute/life-bed.ts';
import { changeDefinition } from '../../../testing/definitions.ts';
import { WORKSPACE } from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';
import { deleteDefinition } from '../../store/definitions/lifecycle.ts';

const ORDERED: Definition = { kind: 'audience', name: 'A', when: { event: 'Order', atLeast: 1 } };

test('a definition becomes live while many deletions wait for what is still to be sent', async () => {
  await using bed = await openLifeBed();
  // The streams are shared by two processes.
  await using one = bed.start();
  await using other = bed.start();
  assert.ok([one, other]);
  const create = (key: string) => bed.create({ key, destinations: ['dst_1'], definition: ORDERED });
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(create));
  await bed.quiet();
  // Each of them has to tell something in the far future.
  await bed.sql(`INSERT INTO compute_outbox (send_at, at, profile_key, definition, sequence, is_first_sync, value, before)
    SELECT 9000000000000000, 1, gen_random_uuid(), number, 1, false, 'true', 'false' FROM definitions WHERE state = 'live'`);
  await changeDefinition(bed.store, WORKSPACE, async (tx, change) => {
    for (const id of ids.slice(1)) await deleteDefinition(tx, change, { workspaceId: WORKSPACE, id }, 'exit');
  });
  const made = await create('late');
  const stateOf = async (id: string) =>
    (await bed.sql<{ state: string }>('SELECT state FROM definitions WHERE id = $1', [id]))[0]?.state;
  await until(async () => (await stateOf(made)) === 'live');
  assert.equal(await stateOf(ids[1] ?? ''), 'deleting');
});
