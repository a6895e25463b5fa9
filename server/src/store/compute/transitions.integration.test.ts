import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HeldPosition, SendingBatch, Transition } from '../../compute/profiles/profile-store.ts';
import {
  change,
  keyOf,
  newProfile,
  newTransition,
  openProfileBed,
  type ProfileBed,
  WORKSPACE,
} from '../../../testing/profile-store.ts';
import { changeDefinitions, updateDefinition } from '../definitions/definitions.ts';
import { listChanges, listChangesOf, listMemberships } from './memberships.ts';
import { countProfiles, membershipSizes } from './sizes.ts';
import { addFirstSync } from './transition-outbox.ts';

const ALL = { now: 1_000_000, most: 100, mostOfFirstSyncs: 100 };

suite('transitions', () => {
  let bed: ProfileBed;
  let held: HeldPosition;
  let relay: HeldPosition;
  before(async () => {
    bed = await openProfileBed();
    held = await bed.profiles.takeOver('stream', 'a');
    relay = await bed.profiles.takeOver('relay', 'a');
  });
  after(() => bed[Symbol.asyncDispose]());

  /** A user with the transitions of one batch; `values` in their order, from the one before the first. */
  async function move(id: string, values: Transition['value'][], fields: Partial<Transition> = {}): Promise<void> {
    const first = fields.sequence ?? 1;
    const transitions = values.slice(1).map((value, nth) =>
      newTransition(bed.audience, id, {
        ...fields,
        value,
        previous: values[nth] ?? null,
        sequence: first + nth,
        at: 1_000 + first + nth,
      }),
    );
    await change(bed.profiles, held, { profiles: [newProfile(id)], transitions });
  }

  async function send(options = ALL): Promise<string[]> {
    const batch = await bed.profiles.claimBatch(relay, options);
    if (batch === undefined) return [];
    await bed.profiles.deleteBatch(relay, batch.batch);
    return tell(batch);
  }

  const tell = ({ transitions }: SendingBatch) =>
    transitions.map(
      ({ id, value, sequence, destinations }) => `${id} ${String(value)} ${sequence} to ${destinations.join()}`,
    );

  const inWorkspace = <T>(work: Parameters<typeof bed.store.inWorkspace<T>>[1]) =>
    bed.store.inWorkspace(WORKSPACE, work);

  test('become memberships, sizes, history and something to send', async () => {
    await move('one', [false, true]);
    const value: Partial<Transition> = { kind: 'trait', value: [1, 'two', false], previous: null };
    await change(bed.profiles, held, {
      profiles: [newProfile('one')],
      transitions: [newTransition(bed.trait, 'one', value)],
    });
    const [member] = await inWorkspace((tx) => listMemberships(tx, bed.audience, { limit: 10, after: undefined }));
    assert.deepEqual(member, {
      key: keyOf('one'),
      kind: 'user',
      id: 'one',
      value: true,
      sequence: 1,
      since: new Date(1_001),
    });
    const [valued] = await inWorkspace((tx) => listMemberships(tx, bed.trait, { limit: 10, after: undefined }));
    assert.deepEqual(valued?.value, [1, 'two', false]);
    const sizes = await inWorkspace((tx) => membershipSizes(tx, WORKSPACE));
    assert.deepEqual(
      sizes,
      new Map([
        [bed.audience, 1],
        [bed.trait, 1],
      ]),
    );
    assert.equal(await inWorkspace((tx) => countProfiles(tx, WORKSPACE)), 1);
    const [entered] = await inWorkspace((tx) => listChanges(tx, bed.audience, { limit: 10, after: undefined }));
    assert.deepEqual(
      { ...entered, change: '' },
      {
        change: '',
        definition: bed.audience,
        key: keyOf('one'),
        profile: { kind: 'user', id: 'one' },
        at: new Date(1_001),
        value: true,
        sequence: 1,
        cause: 'event',
        messageId: undefined,
      },
    );
    const batch = await bed.profiles.claimBatch(relay, ALL);
    assert.deepEqual(batch?.transitions[0], {
      workspaceId: WORKSPACE,
      definition: bed.audience,
      definitionId: `audience_${WORKSPACE}`,
      definitionKind: 'audience',
      definitionKey: 'an_audience',
      key: keyOf('one'),
      kind: 'user',
      id: 'one',
      value: true,
      sequence: 1,
      at: 1_001,
      sendAt: 1_000,
      destinations: ['dst_1'],
      erasedAt: undefined,
    });
    await bed.profiles.deleteBatch(relay, batch.batch);
  });

  test('that were not sent yet coalesce: the last value with its sequence, or nothing if it is what was sent last', async () => {
    await move('away', [false, true]);
    await move('away', [true, false], { sequence: 2 });
    await move('back', [false, true, false, true]);
    assert.deepEqual(await send(), ['back true 3 to dst_1']);
    await move('back', [true, false, true], { sequence: 4 });
    assert.deepEqual(await send(), []);
    await move('back', [true, false], { sequence: 6 });
    assert.deepEqual(await send(), ['back false 6 to dst_1']);
    const history = await inWorkspace((tx) => listChangesOf(tx, { key: keyOf('back'), definition: bed.audience }, 10));
    assert.deepEqual(
      history.map(({ sequence }) => sequence),
      [6, 5, 4, 3, 2, 1],
    );
    assert.equal(bed.server.run('SELECT count(*) FROM compute_outbox').trim(), '0');
  });

  test('that are being sent stay as they are, also for the next relay; later ones wait for them', async () => {
    await move('flying', [false, true]);
    const batch = await bed.profiles.claimBatch(relay, ALL);
    await move('flying', [true, false], { sequence: 2 });
    const late = relay;
    relay = await bed.profiles.takeOver('relay', 'b');
    const again = await bed.profiles.claimBatch(relay, ALL);
    assert.deepEqual(again, batch);
    await assert.rejects(bed.profiles.deleteBatch(late, again?.batch ?? ''));
    await bed.profiles.deleteBatch(relay, again?.batch ?? '');
    assert.deepEqual(await send(), ['flying false 2 to dst_1']);
  });

  test('wait until they may be sent, counted from the first of those that coalesced', async () => {
    await move('settling', [false, true], { sendAt: 60_000 });
    await move('settling', [true, false, true], { sequence: 2, sendAt: 90_000 });
    assert.deepEqual(await send({ ...ALL, now: 59_999 }), []);
    assert.deepEqual(await send({ ...ALL, now: 60_000 }), ['settling true 3 to dst_1']);
    await move('untold', [false, true], { sendAt: undefined });
    assert.deepEqual(await send(), []);
  });

  test('of a first sync come after all others, and become urgent with the next change', async () => {
    await move('sync a', [false, true], { isFirstSync: true, sendAt: 1 });
    await move('sync b', [false, true], { isFirstSync: true, sendAt: 2 });
    await move('live', [false, true], { sendAt: 3 });
    assert.deepEqual(await send({ ...ALL, most: 2, mostOfFirstSyncs: 1 }), [
      'live true 1 to dst_1',
      'sync a true 1 to dst_1',
    ]);
    await move('sync b', [true, false], { sequence: 2 });
    await move('sync b', [false, true], { sequence: 3 });
    assert.deepEqual(await send({ ...ALL, mostOfFirstSyncs: 0 }), ['sync b true 3 to dst_1']);
  });

  test('go to the destinations of the moment; one that was attached later is told who is in, and only that', async () => {
    await inWorkspace(async (tx) => {
      const version = await changeDefinitions(tx);
      await updateDefinition(
        tx,
        version,
        { workspaceId: WORKSPACE, id: `audience_${WORKSPACE}` },
        { destinations: ['dst_1', 'dst_2'] },
      );
    });
    const members = await inWorkspace((tx) => listMemberships(tx, bed.audience, { limit: 100, after: undefined }));
    const queue = (after: string | undefined) =>
      inWorkspace((tx) =>
        addFirstSync(tx, { definition: bed.audience, destination: 'dst_2' }, { after, limit: 2, now: 5 }),
      );
    for (let last = await queue(undefined); last !== undefined; ) last = await queue(last);
    const [left, stays] = members;
    await move(left?.id ?? '', [true, false], { sequence: (left?.sequence ?? 0) + 1 });
    await move(stays?.id ?? '', [true, false, true], { sequence: (stays?.sequence ?? 0) + 1 });
    const sent = await send();
    assert.equal(sent[0], `${left?.id} false ${(left?.sequence ?? 0) + 1} to dst_1,dst_2`);
    const told = members
      .slice(1)
      .map(({ id, sequence }) => `${id} true ${id === stays?.id ? sequence + 2 : sequence} to dst_2`);
    assert.deepEqual(sent.slice(1).toSorted(), told.toSorted());
  });

  test('of a profile that is merged away stay in the history and are neither sent nor counted', async () => {
    const guest = { key: keyOf('guest', 'anonymous') };
    const entered = newTransition(bed.audience, 'guest', guest);
    await change(bed.profiles, held, {
      profiles: [newProfile('guest', { kind: 'anonymous' })],
      transitions: [entered],
    });
    const before = await inWorkspace((tx) => membershipSizes(tx, WORKSPACE));
    const merge = {
      from: guest.key,
      workspaceId: WORKSPACE,
      kind: 'anonymous',
      id: 'guest',
      to: keyOf('one'),
      left: [bed.audience],
    } as const;
    await change(bed.profiles, held, { links: [{ ...merge, left: [bed.audience] }] });
    const sizes = await inWorkspace((tx) => membershipSizes(tx, WORKSPACE));
    assert.equal(sizes.get(bed.audience), (before.get(bed.audience) ?? 0) - 1);
    assert.deepEqual(await send(), []);
    assert.equal((await inWorkspace((tx) => listChangesOf(tx, { ...guest, definition: bed.audience }, 10))).length, 1);
  });

  test('are counted exactly: the sizes are those of the tables', async () => {
    const sizes = await inWorkspace((tx) => membershipSizes(tx, WORKSPACE));
    const counted = await inWorkspace((tx) =>
      tx.query<{ definition: number; count: number }>('SELECT definition, count(*)::int FROM memberships GROUP BY 1'),
    );
    assert.deepEqual(sizes, new Map(counted.map(({ definition, count }) => [definition, count])));
  });

  test('are paged in the order of keys, the history newest first', async () => {
    const all = await inWorkspace((tx) => listMemberships(tx, bed.audience, { limit: 100, after: undefined }));
    const paged: string[] = [];
    for (let after: string | undefined; ; after = paged.at(-1)) {
      const page = await inWorkspace((tx) => listMemberships(tx, bed.audience, { limit: 2, after }));
      paged.push(...page.map(({ key }) => key));
      if (page.length < 2) break;
    }
    assert.deepEqual(
      paged,
      all.map(({ key }) => key),
    );
    const newest = await inWorkspace((tx) => listChanges(tx, bed.audience, { limit: 3, after: undefined }));
    const next = await inWorkspace((tx) => listChanges(tx, bed.audience, { limit: 3, after: newest.at(-1)?.change }));
    const changes = [...newest, ...next].map(({ change }) => Number(change));
    assert.deepEqual(
      changes,
      changes.toSorted((a, b) => b - a),
    );
    assert.equal(new Set(changes).size, 6);
  });
});
