/** Ids with more stored events than a pass of the backfill holds. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { openNatsLives } from '../../../testing/compute/nats-lives.ts';
import { WORKSPACE } from '../../../testing/profile-store.ts';
import { profileKey } from '../profiles/profile-key.ts';
import { userHash } from '../../domain/withheld.ts';
import { eraseProfiles } from '../../store/compute/erase-profiles.ts';
import { insertErasedUsers } from '../../store/erased-users.ts';

const KNOWN: Definition = { kind: 'trait', name: 'Known', compute: 'count', event: 'Visit', settleSeconds: 0 };
const SPENT: Definition = {
  kind: 'trait',
  name: 'Spent',
  compute: 'sum',
  event: 'Order',
  field: 'properties.total',
  settleSeconds: 0,
};
const USERS = Array.from({ length: 100 }, (_, nth) => `u${nth}`);
const keyOf = (id: string) => profileKey(WORKSPACE, 'user', id);
/** Its key is the lowest, so that the first pass has it. */
const BUSY = lowestId();

function lowestId(): string {
  const lowest = USERS.map(keyOf).toSorted()[0] ?? '';
  for (let nth = 0; ; nth += 1) if (keyOf(`busy-${nth}`) < lowest) return `busy-${nth}`;
}

/** Three requests: the first two are one batch of the backfill, the last one is another. */
async function openBed() {
  const lives = await openNatsLives({ pass: 30, events: 10 });
  const order = (userId: string) => ({
    type: 'track',
    event: 'Order',
    userId,
    messageId: crypto.randomUUID(),
    properties: { total: 1 },
  });
  for (let nth = 0; nth < 3; nth += 1) {
    await lives.send([...Array.from({ length: 500 }, () => order(BUSY)), ...USERS.map(order)]);
  }
  await lives.create({ key: 'known', destinations: [], definition: KNOWN });
  await lives.runJobs();
  return lives;
}

suite('an id with more events than a pass holds', () => {
  test('is counted like any other', async () => {
    await using lives = await openBed();
    const id = await lives.create({ key: 'spent', destinations: [], definition: SPENT });
    await lives.runJobs();
    const { values } = await lives.found(id);
    const { [BUSY]: busy, ...others } = values;
    assert.deepEqual([busy, Object.keys(others).length, new Set(Object.values(others))], [1_500, 100, new Set([3])]);
  });

  test('leaves nothing when the user is erased in the middle of it', async () => {
    await using lives = await openBed();
    const id = await lives.create({ key: 'spent', destinations: [], definition: SPENT });
    let batches = 0;
    lives.hooks.batchRead = async () => {
      batches += 1;
      if (batches !== 2) return;
      // The events of the first batch are folded by now.
      await lives.store.inWorkspace(WORKSPACE, async (tx) => {
        await eraseProfiles(tx, WORKSPACE, [BUSY]);
        const mark = { sourceIds: [''], erasedBefore: new Date(), suppressed: false };
        await insertErasedUsers(tx, { workspaceId: WORKSPACE, userHashes: [userHash(WORKSPACE, BUSY)], ...mark });
      });
      await lives.send([{ type: 'track', event: 'Visit', userId: BUSY, messageId: 'back again' }]);
      await lives.allRead();
    };
    await lives.runJobs();
    const { values } = await lives.found(id);
    assert.deepEqual([BUSY in values, Object.keys(values).length], [false, 100]);
  });
});
