import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { NewLink } from '../../compute/profiles/profile-store.ts';
import {
  change,
  keyOf,
  newProfile,
  newTransition,
  OTHER_WORKSPACE,
  openProfileBed,
  type ProfileBed,
  WORKSPACE,
} from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';
import { decodeState, emptyState, encodeState } from '../../compute/state/profile-state.ts';
import { userHash } from '../../domain/withheld.ts';
import { insertErasedUsers } from '../erased-users.ts';
import { eraseProfiles } from './erase-profiles.ts';
import { findProfile } from './read-profiles.ts';
import { countProfiles, membershipSizes } from './sizes.ts';

const ALL = { now: 1_000_000, most: 1, mostOfFirstSyncs: 0 };

suite('erasing a user from audiences', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  const erase = (...ids: string[]) => bed.store.inWorkspace(WORKSPACE, (tx) => eraseProfiles(tx, WORKSPACE, ids));
  const eraseAndMark = (id: string) =>
    bed.store.inWorkspace(WORKSPACE, async (tx) => {
      const erased = await eraseProfiles(tx, WORKSPACE, [id]);
      const mark = { workspaceId: WORKSPACE, sourceIds: [''], erasedBefore: new Date(), suppressed: false };
      await insertErasedUsers(tx, { ...mark, userHashes: [userHash(WORKSPACE, id)] });
      return erased;
    });
  const oneWaits = () =>
    until(() => bed.server.run(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).trim() === '1');
  const named = (kind: 'user' | 'anonymous', id: string) => ({ workspaceId: WORKSPACE, kind, id });
  const linkOf = (id: string, to: string): NewLink => {
    const target = to === 'shared' ? to : keyOf(to);
    return { from: keyOf(id, 'anonymous'), workspaceId: WORKSPACE, kind: 'anonymous', id, to: target, left: [] };
  };

  /** A user with a device and an older id, a timer, memberships, a transition that waits and one that is being sent. */
  async function addUser(id: string, state?: Uint8Array): Promise<void> {
    const { profiles, audience, trait } = bed;
    const held = await profiles.takeOver('stream', 'a');
    const [old, user] = [newProfile(`${id} before`), newProfile(id, { dueAt: 77, ...(state && { state }) })];
    const value = { kind: 'trait', value: `of ${id}`, previous: null } as const;
    const transitions = [newTransition(audience, id, { messageId: 'm1' }), newTransition(trait, id, value)];
    await change(profiles, held, {
      profiles: [old, user],
      links: [linkOf(`${id} phone`, `${id} before`)],
      transitions,
    });
    const alias = { ...linkOf(`${id} before`, id), from: old.key, kind: 'user' } as const;
    await change(profiles, held, { links: [alias] });
    await profiles.claimBatch(await profiles.takeOver('relay', 'a'), ALL);
  }

  /** In the whole database, as text or as part of a key. */
  function traces(id: string): string[] {
    const dump = bed.server.dump().split('\n');
    const ids = [id, `${id} before`, `${id} phone`];
    const keys = ids.flatMap((each) => [keyOf(each), keyOf(each, 'anonymous')]);
    const asUuid = (key: string) => key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    const words = [...ids, ...keys, ...keys.map(asUuid), Buffer.from(id).toString('hex')];
    return dump.filter((line) => words.some((word) => line.includes(word)));
  }

  test('leaves no row with an id or key of theirs in any table, and tells how many there were', async () => {
    await addUser('mallory');
    await addUser('trent');
    assert.ok(traces('mallory').length >= 8, traces('mallory').join('\n'));
    const trentBefore = traces('trent');
    bed.server.run(`SELECT make_record_partition('membership_changes', '2026-01-31', '2026-02-01')`);
    bed.server.run(`INSERT INTO membership_changes (definition, profile_key, at, sequence, cause, value, written_on)
      VALUES (${bed.audience}, '${keyOf('mallory phone', 'anonymous')}', 1, 1, 'event', 'true', '2026-01-31')`);
    const erased = await erase('mallory');
    assert.deepEqual(erased.counts, { profiles: 1, memberships: 2, history: 3 });
    const names = erased.ids.map(({ kind, id }) => `${kind} ${id}`).toSorted();
    assert.deepEqual(names, ['anonymous mallory phone', 'user mallory', 'user mallory before']);
    assert.deepEqual(traces('mallory'), []);
    assert.deepEqual(traces('trent'), trentBefore);
    const [sizes, count] = await bed.store.inWorkspace(WORKSPACE, async (tx) => [
      await membershipSizes(tx, WORKSPACE),
      await countProfiles(tx, WORKSPACE),
    ]);
    assert.deepEqual([sizes.get(bed.audience), sizes.get(bed.trait), count], [1, 1, 1]);
    assert.deepEqual((await erase('mallory')).counts, { profiles: 0, memberships: 0, history: 0 });
  });

  test('by an id that an alias has made part of another user empties the state of that user, who is evaluated anew', async () => {
    const heldValues = [{ definition: bed.audience, sequence: 3, value: true }];
    const full = { ...emptyState(), evaluatedAt: 5_000, planVersion: 1, held: heldValues };
    full.traits = new Map([['email', { stamp: { at: 1, hash: 1 }, value: 'of the former name' }]]);
    await addUser('oscar', encodeState(full));
    const { counts, ids } = await erase('oscar before');
    assert.deepEqual(counts, { profiles: 1, memberships: 0, history: 2 });
    assert.deepEqual(ids.map(({ id }) => id).toSorted(), ['oscar before', 'oscar phone']);
    const oscar = await bed.store.inWorkspace(WORKSPACE, (tx) => findProfile(tx, named('user', 'oscar')));
    const { traits, ...left } = decodeState(oscar?.state ?? assert.fail());
    assert.deepEqual([left.held, left.evaluatedAt, oscar?.dueAt], [heldValues, 5_000, 5_000]);
    assert.ok('start' in traits && traits.start === traits.end, 'no facts are left');
    assert.equal(bed.server.run(`SELECT count(*) FROM profile_timers WHERE due_at = 5000`).trim(), '1');
  });

  test('keeps a device that is shared with another user, unless the device itself is named', async () => {
    const held = await bed.profiles.takeOver('stream', 'a');
    const profiles = [newProfile('walter'), newProfile('tablet', { kind: 'anonymous' })];
    await change(bed.profiles, held, { profiles, links: [linkOf('kiosk', 'shared'), linkOf('watch', 'walter')] });
    const there = () => bed.server.run(`SELECT id FROM profiles WHERE id IN ('walter', 'kiosk', 'watch', 'tablet')`);
    assert.deepEqual((await erase('watch')).ids, [], 'it goes with its user');
    await erase('walter');
    assert.deepEqual(there().trim().split('\n').toSorted(), ['kiosk', 'tablet']);
    await erase('kiosk', 'tablet');
    assert.equal(there().trim(), '');
  });

  test('waits for a reader that has the user, and erases what that one links to them', async () => {
    const held = await bed.profiles.takeOver('stream', 'a');
    await change(bed.profiles, held, { profiles: [newProfile('peggy')] });
    let erased: ReturnType<typeof erase> | undefined;
    await bed.profiles.fold(held, async (tx) => {
      const keys = [keyOf('peggy'), keyOf('peggy phone', 'anonymous')];
      await tx.load(keys, () => keys);
      erased = erase('peggy');
      await oneWaits();
      await tx.write({ profiles: [newProfile('peggy')], links: [linkOf('peggy phone', 'peggy')], transitions: [] });
    });
    assert.equal((await erased)?.counts.profiles, 1);
    assert.deepEqual(traces('peggy'), []);
  });

  test('waits for a reader that is about to create the user; one that comes later is told of the erasure', async () => {
    const held = await bed.profiles.takeOver('stream', 'a');
    const key = keyOf('newcomer');
    let erased: ReturnType<typeof erase> | undefined;
    const before = await bed.profiles.fold(held, async (tx) => {
      await tx.load([key], () => [key]);
      const erasures = await tx.erasures();
      erased = eraseAndMark('newcomer');
      await oneWaits();
      await tx.write({ profiles: [newProfile('newcomer')], links: [], transitions: [] });
      return erasures;
    });
    assert.equal((await erased)?.counts.profiles, 1);
    assert.deepEqual(traces('newcomer'), []);
    const after = await bed.profiles.fold(held, async (tx) => {
      await tx.load([key], () => [key]);
      return tx.erasures();
    });
    assert.ok(after > before);
  });

  test('is of one workspace: the same id in another one stays', async () => {
    const held = await bed.profiles.takeOver('stream', 'a');
    const both = [newProfile('victor'), newProfile('victor', { workspaceId: OTHER_WORKSPACE })];
    await change(bed.profiles, held, { profiles: both });
    await erase('victor');
    const find = (workspaceId: string) =>
      bed.store.inWorkspace(workspaceId, (tx) => findProfile(tx, { workspaceId, kind: 'user', id: 'victor' }));
    assert.equal(await find(WORKSPACE), undefined);
    assert.equal((await find(OTHER_WORKSPACE))?.id, 'victor');
  });
});
