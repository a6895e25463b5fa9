import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  change,
  keyOf,
  newProfile,
  OTHER_WORKSPACE,
  openProfileBed,
  type ProfileBed,
  WORKSPACE,
} from '../../../testing/profile-store.ts';
import { findProfile, pageOfProfiles, sampleProfiles } from './read-profiles.ts';

const COUNT = 2_000;

suite('reading the profiles of a workspace', () => {
  let bed: ProfileBed;
  before(async () => {
    bed = await openProfileBed();
    const held = await bed.profiles.takeOver('stream', 'a');
    const own = Array.from({ length: COUNT }, (_, nth) => newProfile(`u${nth}`));
    const others = Array.from({ length: 50 }, (_, nth) => newProfile(`u${nth}`, { workspaceId: OTHER_WORKSPACE }));
    await change(bed.profiles, held, { profiles: [...own, ...others] });
    const link = { workspaceId: WORKSPACE, kind: 'anonymous', left: [] } as const;
    const device = { ...link, from: keyOf('device', 'anonymous'), id: 'device', to: keyOf('u1') };
    const kiosk = { ...link, from: keyOf('kiosk', 'anonymous'), id: 'kiosk', to: 'shared' as const };
    await change(bed.profiles, held, {
      links: [
        { ...device, left: [] },
        { ...kiosk, left: [] },
      ],
    });
  });
  after(() => bed[Symbol.asyncDispose]());

  const inWorkspace = <T>(work: Parameters<typeof bed.store.readWorkspace<T>>[1]) =>
    bed.store.readWorkspace(WORKSPACE, work);
  const find = (kind: 'user' | 'anonymous', id: string) =>
    inWorkspace((tx) => findProfile(tx, { workspaceId: WORKSPACE, kind, id }));

  test('finds one by its own id and by every id that is linked to it', async () => {
    const expected = { ...newProfile('u1'), links: [{ kind: 'anonymous', id: 'device' }] };
    for (const found of [await find('user', 'u1'), await find('anonymous', 'device')]) {
      assert.deepEqual(found && { ...found, state: Buffer.from(found.state) }, expected);
    }
    assert.equal(await find('user', 'unknown'), undefined);
    assert.equal(await find('anonymous', 'kiosk'), undefined);
  });

  test('pages through all of them, each once', async () => {
    const keys: string[] = [];
    for (;;) {
      const page = await inWorkspace((tx) => pageOfProfiles(tx, WORKSPACE, { after: keys.at(-1), limit: 300 }));
      keys.push(...page.map(({ key }) => key));
      if (page.length < 300) break;
    }
    assert.deepEqual(keys, keys.toSorted());
    assert.equal(new Set(keys).size, COUNT);
  });

  test('takes a random part of them as a sample: the parts make up the whole', async () => {
    const sample = (start: number, share: number) =>
      inWorkspace((tx) => sampleProfiles(tx, WORKSPACE, { start, share }));
    const parts = await Promise.all(Array.from({ length: 10 }, (_, nth) => sample(nth / 10, 0.1)));
    assert.equal(new Set(parts.flat().map(({ key }) => key)).size, COUNT);
    assert.equal(parts.flat().length, COUNT);
    for (const { length } of parts) assert.ok(length > 130 && length < 270, String(length));
    assert.equal((await sample(0.7, 1)).length, COUNT);
  });
});
