/** The API of audiences over a whole stack: control shows, explains and previews the profiles that compute has made. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type {
  Definition,
  DefinitionHistory,
  DefinitionMembers,
  DefinitionPreview,
  MembershipExplanation,
  Profile,
  SizeCurve,
} from '@millrace/contract/control';
import { openAudience, order } from '../testing/audiences.ts';
import { addDestination } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

type Bed = Awaited<ReturnType<typeof openAudience>>;
let bed: Bed;
before(async () => {
  bed = await openAudience();
  const { stack, scene } = bed;
  const identify = {
    type: 'identify',
    userId: 'u/1',
    anonymousId: 'phone',
    messageId: 'i1',
    traits: { plan: 'pro', old: null },
  };
  await stack.send(scene.writeKey, [
    identify,
    { type: 'group', userId: 'u/1', groupId: 'acme', messageId: 'g1' },
    order('u/1', 300, 'o1'),
    order('u2', 20, 'o2'),
    { ...order('u2', 5, 'o4'), userId: undefined, anonymousId: 'laptop' },
  ]);
  // The next request may be in the other stream, whose reader may be ahead.
  const sql = 'SELECT sum(profiles)::int AS profiles FROM profile_counts';
  await until(async () => (await stack.sql<{ profiles: number }>(sql))[0]?.profiles === 3);
  await stack.send(scene.writeKey, [order('u/1', 250, 'o3')]);
  await until(() => told() !== undefined);
});
after(() => bed[Symbol.asyncDispose]());

/** The audience's call about the one who entered; the shop's own calls come to the same receiver. */
const told = () => bed.identifies().find(({ traits }) => 'big_spenders' in traits);

const profileOf = (id: string) => `/profiles/${encodeURIComponent(id)}`;
const preview = (definition: object, exact = false) =>
  bed.stack.get<DefinitionPreview>('POST', '/definitions/preview', { definition: { name: 'P', ...definition }, exact });

suite('the people of an audience', () => {
  test('are listed with since when, and their changes with the event that caused them', async () => {
    const { items, nextCursor } = await bed.stack.get<DefinitionMembers>('GET', `/definitions/${bed.id}/members`);
    assert.equal(nextCursor, null);
    assert.deepEqual(items.map(({ userId, value, sequence }) => [userId, value, sequence]), [['u/1', true, 1]]); // biome-ignore format: short
    const history = await bed.stack.get<DefinitionHistory>('GET', `/definitions/${bed.id}/history`);
    assert.deepEqual(
      history.items.map(({ userId, value, sequence, cause, messageId }) => [userId, value, sequence, cause, messageId]),
      [['u/1', true, 1, 'event', 'o3']],
    );
  });

  test('are counted in the list and in the curve', async () => {
    const { size, state } = await bed.stack.get<Definition>('GET', `/definitions/${bed.id}`);
    assert.deepEqual([size, state], [1, 'live']);
    const { lagSeconds } = await bed.stack.get<{ lagSeconds: number | null }>('GET', '/definitions');
    assert.ok(lagSeconds !== null && lagSeconds < 60, String(lagSeconds));
    const { points, step } = await bed.stack.get<SizeCurve>('GET', `/definitions/${bed.id}/curve?range=1h`);
    assert.deepEqual([points.at(-1)?.size, step], [1, 60]);
  });
});

suite('a profile', () => {
  test('shows its ids, traits, groups and audiences, under each of its ids, and when each audience ends', async () => {
    const profile = await bed.stack.get<Profile>('GET', profileOf('u/1'));
    assert.deepEqual([profile.kind, profile.id, profile.links], ['user', 'u/1', [{ kind: 'anonymous', id: 'phone' }]]);
    assert.deepEqual(profile.traits, { plan: 'pro' });
    assert.deepEqual(profile.groups.map(({ groupId }) => groupId), ['acme']); // biome-ignore format: short
    assert.ok(profile.firstSeenAt !== null && profile.lastSeenAt !== null);
    const [membership] = profile.memberships;
    assert.deepEqual([membership?.definitionId, membership?.value, membership?.key], [bed.id, true, 'big_spenders']);
    const days = (Date.parse(membership?.endsAt ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days < 30.1, membership?.endsAt ?? 'never');
    assert.deepEqual(await bed.stack.get('GET', `${profileOf('phone')}?kind=anonymous`), profile);
  });

  test('of an id that was never seen is not found', async () => {
    for (const id of ['u-9', 'x'.repeat(1_024), '😀'.repeat(100), 'null', 'phone'])
      assert.equal((await bed.stack.ask('GET', profileOf(id))).status, 404, id);
  });
});

suite('why a profile is in', () => {
  const explain = (id: string, definitionId = bed.id) =>
    bed.stack.ask<MembershipExplanation>('GET', `${profileOf(id)}/memberships/${definitionId}/explain`);

  test('is told leaf by leaf, with its last events, its history and the calls that told of it', async () => {
    await until(async () => (await explain('u/1')).body.identifies[0]?.deliveries[0]?.state === 'delivered');
    const { body } = await explain('u/1');
    assert.deepEqual([body.value, body.sequence, body.isCapped], [true, 1, false]);
    const [leaf] = body.leaves;
    assert.deepEqual(
      [leaf?.path, leaf?.value, leaf?.threshold, leaf?.holds, leaf?.messageIds],
      ['/when', 550, 'at least 500', true, ['o3', 'o1']],
    );
    assert.equal(leaf?.changesAt, body.changesAt);
    assert.equal(body.eventsFrom, null);
    assert.deepEqual(body.history.map(({ sequence, messageId }) => [sequence, messageId]), [[1, 'o3']]); // biome-ignore format: short
    const [identify] = body.identifies;
    assert.deepEqual([identify?.sequence, identify?.value, identify?.isWaiting], [1, true, false]);
    const [delivery] = identify?.deliveries ?? [];
    assert.deepEqual([delivery?.destinationId, delivery?.deliveryId], [bed.destinationId, told()?.webhookId]);
  });

  test('is told of one who is not in, too', async () => {
    const { body } = await explain('u2');
    assert.deepEqual([body.value, body.sequence, body.history, body.identifies], [false, 0, [], []]);
    assert.deepEqual([body.leaves[0]?.value, body.leaves[0]?.holds, body.leaves[0]?.messageIds], [20, false, ['o2']]);
  });

  test('is not told of an unknown definition or person', async () => {
    assert.equal((await explain('u/1', 'aud_none')).status, 404);
    assert.equal((await explain('u-9')).status, 404);
  });
});

suite('a preview', () => {
  const when = { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 500 };

  test('of a measure that states have is exact in a small workspace, and shows whom it found', async () => {
    const { tookMs, ...shown } = await preview({ kind: 'audience', when });
    assert.ok(tookMs >= 0);
    const sizes = { size: 1, low: 1, high: 1, isExact: true, profiles: 3, sampled: 3 };
    assert.deepEqual(
      { ...shown, completeFrom: null },
      { ...sizes, completeFrom: null, samples: [{ userId: 'u/1', value: true }] },
    );
  });

  test('counts with tiles, and with stored events where nothing else knows', async () => {
    const tiles = await preview({ kind: 'audience', when: { event: 'Order Completed', window: '30d', atLeast: 2 } });
    assert.deepEqual(tiles.samples, [{ userId: 'u/1', value: true }]);
    const stored = await preview({ kind: 'audience', when: { ...when, window: '2d', atLeast: 20, lessThan: 500 } });
    assert.deepEqual(stored.samples, [{ userId: 'u2', value: true }]);
    const traits = await preview({ kind: 'audience', when: { trait: 'plan', op: 'equals', value: 'pro' } });
    assert.deepEqual(traits.samples, [{ userId: 'u/1', value: true }]);
    const inside = await preview({ kind: 'audience', when: { not: { audience: bed.id } } }, true);
    assert.deepEqual([inside.size, inside.isExact], [2, true]);
  });

  test('of a computed trait shows values, also of profiles without a userId', async () => {
    const { samples } = await preview({
      kind: 'trait',
      compute: 'sum',
      event: 'Order Completed',
      field: 'properties.revenue',
    });
    const values = (samples ?? []).map((each) => [each.userId ?? each.anonymousId, each.value]);
    assert.deepEqual(new Map(values as [string, number][]), new Map([['u/1', 550], ['u2', 20], ['laptop', 5]])); // biome-ignore format: short
  });
});

suite('a definition made over the API', () => {
  const read = (id: string) => bed.stack.get<Definition>('GET', `/definitions/${id}`);
  const waitFor = (id: string, state: string) => until(async () => (await read(id)).state === state, 60_000);

  test('becomes live with the members that its preview showed, goes on without a deleted destination, and leaves nothing behind', async () => {
    const { stack, scene, destinationId } = bed;
    const gone = await addDestination(stack, scene.sourceId, { targets: [{ url: bed.shop.url }] });
    const definition = {
      kind: 'audience',
      name: 'Buyers',
      when: { event: 'Order Completed', window: '30d', atLeast: 1 },
    };
    const { size } = await preview(definition);
    const { id } = await stack.get<Definition>('POST', '/definitions', {
      ...definition,
      destinations: [gone, destinationId],
    });
    await waitFor(id, 'live');
    assert.deepEqual([(await read(id)).size, size], [3, 3]);
    const buyers = () =>
      bed
        .identifies()
        .filter(({ traits }) => 'buyers' in traits)
        .map(({ userId, traits }) => `${userId} ${String(traits['buyers'])}`);
    await until(() => buyers().length === 2);
    assert.deepEqual(buyers().toSorted(), ['u/1 true', 'u2 true']);

    await stack.get('DELETE', `/destinations/${gone}`);
    await stack.send(scene.writeKey, [order('u3', 1, 'o5')]);
    await until(() => buyers().length === 3);
    assert.deepEqual((await read(id)).missing, { sources: [], destinations: [gone] });

    const edited = await stack.get<Definition>('PATCH', `/definitions/${id}`, {
      when: { ...definition.when, atLeast: 2 },
    });
    assert.equal(edited.edit?.version, 2);
    await until(async () => (await read(id)).version === 2, 60_000);
    await until(() => buyers().length === 5);
    assert.deepEqual(buyers().slice(3).toSorted(), ['u2 false', 'u3 false']);

    await stack.get('DELETE', `/definitions/${id}?members=exit`);
    await until(async () => (await stack.ask('GET', `/definitions/${id}`)).status === 404, 60_000);
    await until(() => buyers().length === 6);
    assert.equal(buyers().at(-1), 'u/1 false');
    assert.equal((await stack.ask('POST', '/definitions', definition)).status, 409);
  });

  test('explains nothing of a user who was erased', async () => {
    await bed.stack.get('POST', '/deletion-requests', { userIds: ['u2'] });
    await until(async () => (await bed.stack.ask('GET', profileOf('u2'))).status === 404);
    assert.equal((await bed.stack.ask('GET', `${profileOf('u2')}/memberships/${bed.id}/explain`)).status, 404);
    const { items } = await bed.stack.get<DefinitionHistory>('GET', `/definitions/${bed.id}/history`);
    assert.ok(items.every(({ userId }) => userId !== 'u2'));
  });
});
