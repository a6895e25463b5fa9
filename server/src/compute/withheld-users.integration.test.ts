import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT } from '../../testing/samples.ts';
import { openProfileBed, WORKSPACE } from '../../testing/profile-store.ts';
import { userHash } from '../domain/withheld.ts';
import { countErasures, insertErasedUsers } from '../store/erased-users.ts';
import { openWithheldUsers } from './withheld-users.ts';

test('an erasure that is committed after one of a later time withholds the events before it', async () => {
  await using bed = await openProfileBed();
  const { store } = bed;
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  const erase = (userId: string, erasedBefore: Date) =>
    store.asSystem((tx) =>
      insertErasedUsers(tx, {
        workspaceId: WORKSPACE,
        userHashes: [userHash(WORKSPACE, userId)],
        sourceIds: [''],
        erasedBefore,
        suppressed: false,
      }),
    );
  const users = openWithheldUsers(store);
  const isWithheld = async (second: number) => {
    // As a transaction of a reader does it behind its locks.
    users.seen(await store.asSystem(countErasures));
    await users.refresh([WORKSPACE]);
    return users
      .marksOf(WORKSPACE)
      ?.isWithheld('src_1', { ...EVENT, userId: 'again', receivedAt: at(second).toISOString() });
  };
  await erase('again', at(1));
  await erase('other', at(9));
  assert.deepEqual([await isWithheld(0), await isWithheld(3)], [true, false]);
  await erase('again', at(5));
  assert.deepEqual([await isWithheld(3), await isWithheld(7)], [true, false]);
});
