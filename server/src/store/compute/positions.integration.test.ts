import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { LostPosition, type Position } from '../../compute/profiles/profile-store.ts';
import {
  change,
  newProfile,
  newTransition,
  openProfileBed,
  type ProfileBed,
  read,
} from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';
import { openStore, StoreUnavailable } from '../open-store.ts';
import { openProfileStore } from './open-profile-store.ts';

const AT_FIVE: Position = {
  createdAt: 1_700_000_000_000,
  sequence: 5,
  storedAt: 1_700_000_000_500,
  clock: 7,
  left: [2, 3],
};

suite('the position of a stream', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  test('is unknown at first, then the one that was moved to last, whoever holds it', async () => {
    const { profiles } = bed;
    const first = await profiles.takeOver('first', 'a');
    assert.deepEqual(first, { stream: 'first', epoch: 1, position: undefined });
    await profiles.fold(first, (tx) => tx.moveTo(AT_FIVE));
    assert.deepEqual(await profiles.takeOver('first', 'b'), { stream: 'first', epoch: 2, position: AT_FIVE });
  });

  test('of a stream that was made anew is as it was: the reader sees the other creation time and begins anew', async () => {
    const { profiles } = bed;
    await profiles.fold(await profiles.takeOver('anew', 'a'), (tx) => tx.moveTo(AT_FIVE));
    const held = await profiles.takeOver('anew', 'a');
    assert.equal(held.position?.createdAt, AT_FIVE.createdAt);
    const anew = { ...AT_FIVE, createdAt: AT_FIVE.createdAt + 1, sequence: 0, storedAt: 0, left: [] };
    await profiles.fold(held, (tx) => tx.moveTo(anew));
    assert.deepEqual((await profiles.takeOver('anew', 'a')).position, anew);
  });

  test('belongs to one holder: the one before fails in every way, and writes nothing', async () => {
    const { profiles, audience, store } = bed;
    const early = await profiles.takeOver('held', 'early');
    const late = await profiles.takeOver('held', 'late');
    const entered = { profiles: [newProfile('held')], transitions: [newTransition(audience, 'held')] };
    await assert.rejects(change(profiles, early, entered), LostPosition);
    await assert.rejects(
      profiles.fold(early, (tx) => tx.moveTo(AT_FIVE)),
      LostPosition,
    );
    await assert.rejects(profiles.claimBatch(early, { now: 2_000, most: 10, mostOfFirstSyncs: 0 }), LostPosition);
    await assert.rejects(profiles.deleteBatch(early, '1'), LostPosition);
    assert.deepEqual(await read(profiles, late, ['held']), []);
    const rows = await store.asSystem((tx) => tx.query('SELECT FROM memberships UNION ALL SELECT FROM compute_outbox'));
    assert.equal(rows.length, 0);
    assert.equal((await profiles.takeOver('held', 'third')).position, undefined);
  });

  test('is taken over after the transaction that is under way, and with what that one has done', async () => {
    const { profiles, server } = bed;
    const early = await profiles.takeOver('busy', 'early');
    let third: Promise<unknown> | undefined;
    await profiles.fold(early, async (tx) => {
      third = profiles.takeOver('busy', 'late');
      await until(
        () => server.run(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).trim() === '1',
      );
      await tx.moveTo(AT_FIVE);
    });
    assert.deepEqual(await third, { stream: 'busy', epoch: 2, position: AT_FIVE });
  });

  test('shows its holder and its beats to others, and can be given back', async () => {
    const { profiles } = bed;
    const held = await profiles.takeOver('seen', 'me');
    const look = async () => (await profiles.positions()).find(({ stream }) => stream === 'seen');
    const before = await look();
    assert.equal(before?.holder, 'me');
    await profiles.fold(held, (tx) => tx.moveTo(AT_FIVE));
    const moved = await look();
    await profiles.fold(held, (tx) => tx.moveTo(AT_FIVE));
    const again = await look();
    assert.equal(new Set([before.beat, moved?.beat, again?.beat]).size, 3);
    await profiles.release({ ...held, epoch: held.epoch - 1 });
    assert.equal((await look())?.holder, 'me');
    await profiles.release(held);
    assert.equal((await look())?.holder, undefined);
    assert.deepEqual((await look())?.position, AT_FIVE);
  });
});

suite('a transaction that cannot end', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  const entered = (id: string) => ({ profiles: [newProfile(id)], transitions: [newTransition(bed.audience, id)] });

  async function assertNothingWritten(stream: string, id: string): Promise<void> {
    const held = await bed.profiles.takeOver(stream, 'next');
    assert.equal(held.position, undefined);
    assert.deepEqual(await read(bed.profiles, held, [id]), []);
    for (const table of ['memberships', 'membership_changes', 'compute_outbox', 'profile_claims', 'membership_sizes']) {
      assert.equal(bed.server.run(`SELECT count(*) FROM ${table}`).trim(), '0', table);
    }
  }

  test('because its connection was cut leaves nothing behind', async () => {
    const { profiles, server } = bed;
    const held = await profiles.takeOver('cut', 'a');
    const cut = profiles.fold(held, async (tx) => {
      const { key } = newProfile('cut');
      await tx.load([key], () => [key]);
      await tx.write({ links: [], ...entered('cut') });
      await tx.moveTo(AT_FIVE);
      server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'`);
    });
    await assert.rejects(cut, StoreUnavailable);
    await assertNothingWritten('cut', 'cut');
  });

  test('because the disk is full, leaves the position where it was', async () => {
    const { profiles, server } = bed;
    server.run(`CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER fill_disk BEFORE INSERT ON compute_outbox EXECUTE FUNCTION fill_disk()`);
    const held = await profiles.takeOver('full', 'a');
    await assert.rejects(change(profiles, held, entered('full')), { code: '53100' });
    server.run('DROP TRIGGER fill_disk ON compute_outbox');
    await assertNothingWritten('full', 'full');
  });

  test('because the server is read-only, leaves the position where it was', async () => {
    const held = await bed.profiles.takeOver('read-only', 'a');
    bed.server.run('ALTER ROLE millrace SET default_transaction_read_only = on');
    {
      await using store = await openStore(bed.server.serviceUrl);
      await assert.rejects(change(openProfileStore(store), held, entered('read-only')), { code: '25006' });
    }
    bed.server.run('ALTER ROLE millrace RESET default_transaction_read_only');
    await assertNothingWritten('read-only', 'read-only');
  });
});
