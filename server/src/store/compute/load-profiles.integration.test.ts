import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Client } from 'pg';
import type { NewLink, StoredProfile } from '../../compute/profiles/profile-store.ts';
import {
  change,
  keyOf,
  newProfile,
  NO_CHANGES,
  openProfileBed,
  type ProfileBed,
  read,
  WORKSPACE,
} from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';

function link(id: string, to: string, fields: Partial<NewLink> = {}): NewLink {
  const from = keyOf(id, 'anonymous');
  const target = to === 'shared' ? to : keyOf(to);
  return { from, workspaceId: WORKSPACE, kind: 'anonymous', id, to: target, left: [], ...fields };
}

suite('loading profiles', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  const waiting = () => bed.server.run(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).trim();

  test('gives back every byte and every field that was written', async () => {
    const held = await bed.profiles.takeOver('bytes', 'a');
    const bytes = Buffer.from(Array.from({ length: 300 }, (_, nth) => nth % 256));
    const written: StoredProfile[] = [
      newProfile('full', { state: bytes, dueAt: 1_700_000_123_456 }),
      newProfile('empty', { state: Buffer.alloc(0) }),
      newProfile('früh "quoted" \\ \u{1F600}', { kind: 'anonymous', state: Buffer.from([0]) }),
      newProfile('large', { state: Buffer.alloc(100_000, 7), dueAt: 0 }),
    ];
    await change(bed.profiles, held, { profiles: written });
    const keys = written.map(({ key }) => key);
    const load = () => bed.profiles.fold(held, (tx) => tx.load(keys, () => keys));
    assert.deepEqual(sorted((await load()).profiles.values()), sorted(written));
    const changed = written.map((profile) => ({ ...profile, state: Buffer.from('new'), dueAt: 9 }));
    await change(bed.profiles, held, { profiles: changed });
    assert.deepEqual(sorted((await load()).profiles.values()), sorted(changed));
  });

  test('follows links of links, and tells shared ids', async () => {
    const held = await bed.profiles.takeOver('links', 'a');
    const profiles = [newProfile('owner'), newProfile('earlier')];
    await change(bed.profiles, held, { profiles, links: [link('device', 'earlier'), link('kiosk', 'shared')] });
    const alias = { ...link('earlier', 'owner'), from: keyOf('earlier'), kind: 'user' } as const;
    await change(bed.profiles, held, { links: [alias] });
    const device = keyOf('device', 'anonymous');
    const kiosk = keyOf('kiosk', 'anonymous');
    const { links, profiles: found } = await bed.profiles.fold(held, (tx) =>
      tx.load([device, kiosk], () => [keyOf('owner')]),
    );
    assert.deepEqual(
      links,
      new Map([
        [device, keyOf('earlier')],
        [kiosk, 'shared'],
        [keyOf('earlier'), keyOf('owner')],
      ]),
    );
    assert.deepEqual([...found.values()], [newProfile('owner')]);
  });

  test('waits for the transaction that creates the same profile, and then has it', async () => {
    const [one, two] = [await bed.profiles.takeOver('one', 'a'), await bed.profiles.takeOver('two', 'a')];
    let second: Promise<StoredProfile[]> | undefined;
    await bed.profiles.fold(one, async (tx) => {
      const key = keyOf('new');
      assert.equal((await tx.load([key], () => [key])).profiles.size, 0);
      second = read(bed.profiles, two, ['new']);
      await until(() => waiting() === '1');
      await tx.write({ ...NO_CHANGES, profiles: [newProfile('new')] });
    });
    assert.deepEqual(await second, [newProfile('new')]);
  });

  test('has a profile to itself that another transaction was about to create, and did not', async () => {
    const [one, two] = [await bed.profiles.takeOver('one', 'a'), await bed.profiles.takeOver('two', 'a')];
    let second: Promise<unknown> | undefined;
    await bed.profiles.fold(one, async (tx) => {
      const key = keyOf('never');
      await tx.load([key], () => [key]);
      second = change(bed.profiles, two, { profiles: [newProfile('never')] });
      await until(() => waiting() === '1');
    });
    await second;
    assert.equal((await read(bed.profiles, one, ['never'])).length, 1);
  });

  test('starts over when an id was linked meanwhile: its event goes to the user, not to a profile of its own', async () => {
    const [one, two] = [await bed.profiles.takeOver('one', 'a'), await bed.profiles.takeOver('two', 'a')];
    const device = keyOf('phone', 'anonymous');
    const user = keyOf('phone owner');
    let second: Promise<string[]> | undefined;
    await bed.profiles.fold(one, async (tx) => {
      await tx.load([device, user], () => [device, user]);
      second = bed.profiles.fold(two, async (other) => {
        const choose = (links: ReadonlyMap<string, string>) => [links.get(device) ?? device];
        return [...(await other.load([device], choose)).profiles.keys()];
      });
      await until(() => waiting() === '1');
      await tx.write({ ...NO_CHANGES, profiles: [newProfile('phone owner')], links: [link('phone', 'phone owner')] });
    });
    assert.deepEqual(await second, [user]);
  });

  test('is done once in a transaction, and what was not loaded cannot be written', async () => {
    const held = await bed.profiles.takeOver('once', 'a');
    const twice = bed.profiles.fold(held, async (tx) => {
      await tx.load([keyOf('x')], () => [keyOf('x')]);
      await tx.load([keyOf('y')], () => [keyOf('y')]);
    });
    await assert.rejects(twice, /loads once/);
    const unread = bed.profiles.fold(held, (tx) => tx.write({ ...NO_CHANGES, profiles: [newProfile('z')] }));
    await assert.rejects(unread, /has not locked/);
  });

  test('rejects when a foreign client has made a deadlock, and works again after it', async () => {
    const held = await bed.profiles.takeOver('deadlock', 'a');
    const both = [newProfile('d1'), newProfile('d2')].toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await change(bed.profiles, held, { profiles: both });
    const [low, high] = both.map(({ key }) => key);
    const foreign = new Client({ connectionString: bed.server.adminUrl });
    await foreign.connect();
    try {
      await foreign.query(`SET deadlock_timeout = '1min'; BEGIN`);
      const lock = 'SELECT FROM profiles WHERE profile_key = $1 FOR UPDATE';
      await foreign.query(lock, [high]);
      const deadlocked = assert.rejects(read(bed.profiles, held, ['d1', 'd2']), { code: '40P01' });
      await until(() => waiting() === '1');
      await foreign.query(lock, [low]);
      await deadlocked;
      await foreign.query('ROLLBACK');
    } finally {
      await foreign.end();
    }
    assert.equal((await read(bed.profiles, held, ['d1', 'd2'])).length, 2);
  });
});

suite('profiles that are due', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
  });
  after(() => bed[Symbol.asyncDispose]());

  const due = async (upTo: number, most = 10) => {
    const held = await bed.profiles.takeOver('clock', 'a');
    const profiles = await bed.profiles.fold(held, (tx) => tx.loadDue(upTo, most));
    return profiles.map(({ id }) => id);
  };

  test('come earliest first, as many as asked, until their timer is moved or taken away', async () => {
    const held = await bed.profiles.takeOver('due', 'a');
    const at = (id: string, dueAt: number | undefined) => newProfile(id, { dueAt });
    await change(bed.profiles, held, { profiles: [at('c', 30), at('a', 10), at('b', 20), at('never', undefined)] });
    assert.deepEqual(await due(25), ['a', 'b']);
    assert.deepEqual(await due(99, 2), ['a', 'b']);
    await change(bed.profiles, held, { profiles: [at('a', 40), at('b', undefined)] });
    assert.deepEqual(await due(99), ['c', 'a']);
    assert.equal(bed.server.run('SELECT count(*) FROM profile_timers').trim(), '2');
    await change(bed.profiles, held, { profiles: [at('a', undefined), at('c', undefined)] });
  });

  test('are left out while another transaction has them, without a wait, and the ones behind them come', async () => {
    const held = await bed.profiles.takeOver('due', 'a');
    await change(bed.profiles, held, { profiles: [newProfile('x', { dueAt: 1 }), newProfile('y', { dueAt: 2 })] });
    await bed.profiles.fold(held, async (tx) => {
      await tx.load([keyOf('x')], () => [keyOf('x')]);
      assert.deepEqual(await due(5, 1), ['y']);
    });
    assert.deepEqual(await due(5, 1), ['x']);
  });

  test('lose their timer when they become a link', async () => {
    const held = await bed.profiles.takeOver('due', 'a');
    await change(bed.profiles, held, {
      profiles: [newProfile('guest', { kind: 'anonymous', dueAt: 1 }), newProfile('u')],
    });
    await change(bed.profiles, held, { links: [link('guest', 'u')] });
    assert.ok(!(await due(5)).includes('guest'));
  });
});

function sorted(profiles: Iterable<StoredProfile>): StoredProfile[] {
  return [...profiles]
    .map((profile) => ({ ...profile, state: Buffer.from(profile.state) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
