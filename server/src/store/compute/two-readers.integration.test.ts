/** Readers over the same profiles at the same time: no deadlock, no lost update, no profile twice. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { IdKind, ProfileKey } from '../../compute/profiles/profile-key.ts';
import type {
  Links,
  LoadedProfiles,
  NewLink,
  ProfileChanges,
  ProfileStore,
  StoredProfile,
} from '../../compute/profiles/profile-store.ts';
import { type Dice, makeDice } from '../../../testing/dice.ts';
import { keyOf, newProfile, openProfileBed, WORKSPACE } from '../../../testing/profile-store.ts';

const READERS = 4;
const BATCHES = 40;
const EVENTS = 60;
const USERS = 150;

/** An event of a user, of a device, or of both, which makes the device the user's. */
type Seen = { user: string | undefined; device: string | undefined };

suite('readers that fold the same profiles', () => {
  test('neither deadlock nor lose an event, with new profiles and links under way', async () => {
    await using bed = await openProfileBed();
    await Promise.all(
      Array.from({ length: READERS }, (_, nth) => runReader(bed.profiles, `stream ${nth}`, makeDice(15 + nth))),
    );
    const rows = await bed.store.asSystem((tx) => tx.query<{ state: Buffer | null }>('SELECT state FROM profiles'));
    const counted = rows.reduce((sum, { state }) => sum + (state?.readUInt32BE() ?? 0), 0);
    assert.equal(counted, READERS * BATCHES * EVENTS, 'every event is counted in exactly one profile');
    const ask = (sql: string) => bed.server.run(sql).trim();
    assert.equal(ask('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'), '0');
    assert.equal(ask('SELECT count(*) FROM profile_claims'), '0');
    assert.equal(
      ask('SELECT sum(profiles) FROM profile_counts'),
      ask('SELECT count(*) FROM profiles WHERE link IS NULL'),
    );
  });
});

async function runReader(profiles: ProfileStore, stream: string, dice: Dice): Promise<void> {
  const held = await profiles.takeOver(stream, stream);
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const events = Array.from({ length: EVENTS }, () => makeEvent(dice));
    await profiles.fold(held, async (tx) => {
      const keys = events.flatMap(({ user, device }) => [...keysOf(user, 'user'), ...keysOf(device, 'anonymous')]);
      const loaded = await tx.load(keys, (links) => events.flatMap((event) => chosen(event, links)));
      await tx.write(countEvents(events, loaded));
    });
  }
}

/** A few users are in every batch. */
function makeEvent(dice: Dice): Seen {
  const nth = dice.below(3) === 0 ? dice.below(5) : dice.below(USERS);
  const user = dice.below(4) > 0 ? `u${nth}` : undefined;
  return { user, device: user === undefined || dice.below(2) === 0 ? `d${nth}` : undefined };
}

function keysOf(id: string | undefined, kind: IdKind): ProfileKey[] {
  return id === undefined ? [] : [keyOf(id, kind)];
}

function chosen({ user, device }: Seen, links: Links): ProfileKey[] {
  const owners = keysOf(user, 'user');
  for (const key of keysOf(device, 'anonymous')) {
    const target = links.get(key);
    if (target === undefined) owners.push(key);
    else if (user === undefined) owners.push(target);
  }
  return owners;
}

/** The state is the number of events. */
function countEvents(events: readonly Seen[], loaded: LoadedProfiles): ProfileChanges {
  const links = new Map(loaded.links);
  const added: NewLink[] = [];
  const counts = new Map<ProfileKey, { profile: StoredProfile; count: number }>();
  const countOf = (key: ProfileKey, make: () => StoredProfile) => {
    const stored = loaded.profiles.get(key);
    const known = counts.get(key) ?? { profile: stored ?? make(), count: stored === undefined ? 0 : readCount(stored) };
    counts.set(key, known);
    return known;
  };
  const ofUser = (id: string) => countOf(keyOf(id), () => newProfile(id));
  const ofDevice = (id: string) => countOf(keyOf(id, 'anonymous'), () => newProfile(id, { kind: 'anonymous' }));
  for (const { user, device } of events) {
    const from = keyOf(device ?? '', 'anonymous');
    const target = links.get(from);
    if (user === undefined && device !== undefined) {
      (target === undefined
        ? ofDevice(device)
        : countOf(target, () => assert.fail('the owner was not loaded'))).count += 1;
    }
    if (user === undefined) continue;
    ofUser(user).count += 1;
    if (device === undefined || target !== undefined) continue;
    ofUser(user).count += ofDevice(device).count;
    counts.delete(from);
    links.set(from, keyOf(user));
    added.push({ from, workspaceId: WORKSPACE, kind: 'anonymous', id: device, to: keyOf(user), left: [] });
  }
  const profiles = [...counts.values()].map(({ profile, count }) => ({ ...profile, state: countBytes(count) }));
  return { profiles, links: added, transitions: [] };
}

function readCount({ state }: StoredProfile): number {
  return Buffer.from(state).readUInt32BE();
}

function countBytes(count: number): Buffer {
  const bytes = Buffer.alloc(300);
  bytes.writeUInt32BE(count);
  return bytes;
}
