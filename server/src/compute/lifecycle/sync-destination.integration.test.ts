import assert from 'node:assert/strict';
import { setImmediate as breathe } from 'node:timers/promises';
import { test } from 'node:test';
import { openLifeBed, STREAMS } from '../../../testing/compute/life-bed.ts';
import { addDefinition, changeDefinition } from '../../../testing/definitions.ts';
import { keyOf, newProfile, newTransition, NO_CHANGES, WORKSPACE } from '../../../testing/profile-store.ts';
import { until } from '../../../testing/until.ts';
import { addFirstSync } from '../../store/compute/transition-outbox.ts';
import { openProfileStore } from '../../store/compute/open-profile-store.ts';
import { findDefinition, updateDefinition } from '../../store/definitions/definitions.ts';
import type { HeldPosition } from '../profiles/profile-store.ts';
import { type JobNeeds, PORTIONS } from './life-needs.ts';
import { syncDestination } from './sync-destination.ts';

const PLACE = { createdAt: 1, sequence: 1, storedAt: 1, left: [] };

test('a destination hears of a member whom a reader made without knowing the destination', async () => {
  await using bed = await openLifeBed();
  const profiles = openProfileStore(bed.store);
  const when = { event: 'Order', atLeast: 1 };
  const added = { key: 'quiet', destinations: [], definition: { kind: 'audience', name: 'Quiet', when } as const };
  const name = { workspaceId: WORKSPACE, id: await addDefinition(bed.store, { workspaceId: WORKSPACE, ...added }) };
  const { number = 0 } = (await bed.store.asSystem((tx) => findDefinition(tx, name.workspaceId, name.id))) ?? {};
  const readers = await Promise.all(STREAMS.map((stream) => profiles.takeOver(stream, 'reader')));
  const learn = (held: HeldPosition) =>
    profiles.fold(held, async (tx) => {
      await tx.startFolding({ version: tx.definitionsVersion, place: PLACE, versions: [], workspaces: [] });
      await tx.moveTo({ ...PLACE, clock: 1 });
    });
  for (const reader of readers) await learn(reader);
  const [reader] = readers;
  assert.ok(reader);

  const lifecycle = await profiles.takeOver('lifecycle', 'lifecycle');
  let [turns, isOver] = [0, false];
  const needs = {
    store: bed.store,
    profiles,
    side: bed.streams.side(1),
    portions: PORTIONS,
    changed: () => undefined,
    step: (work: Parameters<JobNeeds['step']>[0]) => profiles.foldWith(lifecycle, work),
    async turn() {
      turns += 1;
      await breathe();
    },
  } as unknown as JobNeeds;
  let sync: Promise<void> | undefined;
  await profiles.fold(reader, async (tx) => {
    const keys = [keyOf('u1')];
    await tx.load(keys, () => keys);
    await changeDefinition(bed.store, WORKSPACE, (other, change) =>
      updateDefinition(other, change, name, { destinations: ['dst_1'] }),
    );
    sync = syncDestination({ definition: number, destination: 'dst_1' }, needs).finally(() => (isOver = true));
    await until(() => isOver || turns >= 3);
    const entered = newTransition(number, 'u1', { sendAt: undefined });
    await tx.write({ ...NO_CHANGES, profiles: [newProfile('u1')], transitions: [entered] });
  });
  for (const each of readers) await learn(each);
  await sync;
  const relay = await profiles.takeOver('relay', 'relay');
  const batch = await profiles.claimBatch(relay, { now: bed.streams.now(), most: 10, mostOfFirstSyncs: 10 });
  assert.deepEqual(
    batch?.transitions.map(({ id, value, destinations }) => ({ id, value, destinations })),
    [{ id: 'u1', value: true, destinations: ['dst_1'] }],
  );
});

for (const includeAnonymous of [false, true]) {
  test(`a destination that is attached later hears of anonymous members when they are ${includeAnonymous ? '' : 'not '}included`, async () => {
    await using bed = await openLifeBed();
    const profiles = openProfileStore(bed.store);
    const when = { event: 'Order', atLeast: 1 };
    const definition = { kind: 'audience', name: 'All', when, includeAnonymous } as const;
    const added = { workspaceId: WORKSPACE, key: 'all', destinations: ['dst_1'], definition };
    const id = await addDefinition(bed.store, added);
    const { number = 0 } = (await bed.store.asSystem((tx) => findDefinition(tx, WORKSPACE, id))) ?? {};
    const [user, guest] = [newProfile('ann'), newProfile('guest', { kind: 'anonymous' })];
    await profiles.fold(await profiles.takeOver(STREAMS[0] ?? '', 'reader'), async (tx) => {
      const keys = [user.key, guest.key].sort();
      await tx.load(keys, () => keys);
      const entered = [user, guest].map(({ key, id: name }) => ({
        ...newTransition(number, name, { sendAt: undefined }),
        key,
      }));
      await tx.write({ ...NO_CHANGES, profiles: [user, guest], transitions: entered });
    });
    const page = { after: undefined, limit: 10, now: 1 };
    await bed.store.asSystem((tx) => addFirstSync(tx, { definition: number, destination: 'dst_1' }, page));
    const relay = await profiles.takeOver('relay', 'relay');
    const batch = await profiles.claimBatch(relay, { now: bed.streams.now(), most: 10, mostOfFirstSyncs: 10 });
    const told = batch?.transitions.map(({ id: name }) => name).sort();
    assert.deepEqual(told, includeAnonymous ? ['ann', 'guest'] : ['ann']);
  });
}
