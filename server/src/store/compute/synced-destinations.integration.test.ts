/** A destination is told the members while some of them leave and come back, and what they did is not sent yet. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import type { HeldPosition, Transition } from '../../compute/profiles/profile-store.ts';
import {
  change,
  newProfile,
  newTransition,
  openProfileBed,
  type ProfileBed,
  WORKSPACE,
} from '../../../testing/profile-store.ts';
import { changeDefinitions, updateDefinition } from '../definitions/definitions.ts';
import { addFirstSync } from './transition-outbox.ts';

const NOW = { now: 1_000_000, most: 100, mostOfFirstSyncs: 100 };
/** The relay sends a change that settles then, and not before. */
const SETTLED_AT = 2_000_000;
const LATER = { ...NOW, now: SETTLED_AT };

suite('a destination that is attached later', () => {
  let bed: ProfileBed;
  let held: HeldPosition;
  let relay: HeldPosition;
  beforeEach(async () => {
    bed = await openProfileBed();
    held = await bed.profiles.takeOver('stream', 'a');
    relay = await bed.profiles.takeOver('relay', 'a');
  });
  afterEach(() => bed[Symbol.asyncDispose]());

  const write = (id: string, transition: Partial<Transition>) =>
    change(bed.profiles, held, {
      profiles: [newProfile(id)],
      transitions: [newTransition(bed.audience, id, transition)],
    });
  const leave = (id: string) => write(id, { value: false, previous: true, sequence: 2, sendAt: SETTLED_AT });
  const comeBack = (id: string) => write(id, { value: true, previous: false, sequence: 3, sendAt: SETTLED_AT });

  async function send(options: typeof NOW): Promise<string[]> {
    const batch = await bed.profiles.claimBatch(relay, options);
    if (batch === undefined) return [];
    await bed.profiles.deleteBatch(relay, batch.batch);
    return batch.transitions.map(
      ({ id, value, sequence, destinations }) => `${id} ${String(value)} ${sequence} to ${destinations.join()}`,
    );
  }

  async function attach(): Promise<void> {
    const name = { workspaceId: WORKSPACE, id: `audience_${WORKSPACE}` };
    await bed.store.asSystem(async (tx) => {
      await updateDefinition(tx, await changeDefinitions(tx), name, { destinations: ['dst_1', 'dst_2'] });
      const sync = { definition: bed.audience, destination: 'dst_2' };
      for (let after: string | undefined; ; ) {
        after = await addFirstSync(tx, sync, { after, limit: 1, now: 1 });
        if (after === undefined) return;
      }
    });
  }

  test('hears of a member who had left when it was attached, and comes back before that was sent', async () => {
    for (const id of ['u1', 'u2', 'u3']) await write(id, {});
    assert.equal((await send(NOW)).length, 3);
    await leave('u2');
    await attach();
    await comeBack('u2');
    const told = [...(await send(NOW)), ...(await send(LATER))];
    assert.deepEqual(told.toSorted(), ['u1 true 1 to dst_2', 'u2 true 3 to dst_1,dst_2', 'u3 true 1 to dst_2']);
  });

  test('hears of a member who leaves before it is told, and comes back before that was sent', async () => {
    await write('u1', {});
    await send(NOW);
    await attach();
    await leave('u1');
    assert.deepEqual(await send(NOW), [], 'there is no member to tell');
    await comeBack('u1');
    assert.deepEqual(await send(LATER), ['u1 true 3 to dst_1,dst_2']);
  });

  test('hears nothing twice of a member who leaves and comes back before it is attached', async () => {
    await write('u1', {});
    await send(NOW);
    await leave('u1');
    await comeBack('u1');
    assert.deepEqual(await send(LATER), [], 'the other destination knows it');
    await attach();
    assert.deepEqual(await send(LATER), ['u1 true 3 to dst_2']);
  });
});
