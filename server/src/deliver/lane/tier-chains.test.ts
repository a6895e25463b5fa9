import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ids, openTier, takeAll } from '../../../testing/memory-tier.ts';
import { EVENT } from '../../../testing/samples.ts';

suite('reading chains', () => {
  /** Ids are a user, and the place in the request. */
  const chained = (id: string) => ({
    order: `1-0-1-000${id.slice(1, 2)}`,
    event: { ...EVENT, userId: id.slice(0, 1) },
  });
  const GROUP = ['a0', 'b1', 'a2', 'c3', 'a4', 'b5'];

  test('those of the same user in the group come ahead of their turn, and once', async () => {
    const reader = openTier({ 1: GROUP, 2: ['a6'] }, 0, chained).read();
    await reader.head();
    assert.equal(reader.take()?.delivery.id, 'a0');
    assert.deepEqual(ids((await reader.takeBehind()).behind), ['a2', 'a4']);
    assert.deepEqual((await reader.takeBehind()).behind, []);
    assert.deepEqual(ids(await takeAll(reader)), ['b1', 'c3', 'b5', 'a6']);
  });

  test('a group is dropped when the chain is done, and not before', async () => {
    const tier = openTier({ 1: ['a0', 'a1'], 2: ['b2'] }, 0, chained);
    const reader = tier.read();
    await reader.head();
    const [first] = await takeAll(reader, 1);
    const [second] = (await reader.takeBehind()).behind;
    const [other] = await takeAll(reader);
    first?.done();
    other?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, []);
    second?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [2]);
  });

  test('the position names those that are done behind it, and the next reader passes over them', async () => {
    const tier = openTier({ 1: GROUP }, 5, chained);
    const reader = tier.read();
    for (const taken of [...(await takeAll(reader, 1)), ...(await reader.takeBehind()).behind]) taken.done();
    assert.deepEqual(reader.position(), { sequence: 1, taken: 1, ahead: [2, 4] });
    const next = tier.read({ ...reader.position(), at: reader.stamp() });
    assert.deepEqual(ids(await takeAll(next)), ['b1', 'c3', 'b5']);
    const anew = tier.read({ ...reader.position(), at: 4 });
    assert.equal((await takeAll(anew)).length, 6, 'another group has the same sequence');
  });

  test('a reader that takes nothing, as for a paused lane, leaves the position with those that are done behind it', async () => {
    const tier = openTier({ 1: GROUP, 2: GROUP, 3: GROUP }, 5, chained);
    const start = { sequence: 1, taken: 1, ahead: [2, 4], begun: [{ sequence: 3, taken: 0, ahead: [1] }], at: 5 };
    const unread = tier.read(start);
    assert.deepEqual({ ...unread.position(), at: unread.stamp() }, start);
    const onlySeen = tier.read(start);
    await onlySeen.head();
    assert.deepEqual({ ...onlySeen.position(), at: onlySeen.stamp() }, start);
  });

  test('a reader that does not come to all groups that are done in part names the rest again', async () => {
    const groups = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [index + 1, ['x0', 'y1']]));
    const tier = openTier(groups, 5);
    const begun = [2, 20].map((sequence) => ({ sequence, taken: 0, ahead: [1] }));
    const reader = tier.read({ sequence: 1, taken: 1, begun, at: 5 });
    const [first] = await takeAll(reader, 1);
    first?.done();
    assert.deepEqual({ ...reader.position(), at: reader.stamp() }, { ...begun[0], begun: [begun[1]], at: 5 });
    const anew = tier.read({ sequence: 1, taken: 1, begun, at: 4 });
    for (const taken of await takeAll(anew, 1)) taken.done();
    assert.equal(anew.position().begun, undefined, 'a stream that was recreated has other groups');
  });

  test('a chain that is done is not repeated in part when a delivery before it is kept', async () => {
    const tier = openTier({ 1: ['w0', 'x1', 'z2', 'z3', 'y4'] }, 5, chained);
    const reader = tier.read();
    const [first, kept, ...chain] = await takeAll(reader, 3);
    chain.push(...(await reader.takeBehind()).behind);
    assert.deepEqual(ids(chain), ['z2', 'z3']);
    for (const taken of chain) taken.done();
    first?.done();
    kept?.keep();
    const next = tier.read({ ...reader.position(), at: reader.stamp() });
    assert.deepEqual(ids(await takeAll(next)), ['x1', 'y4']);
  });

  /** The last one of each group says that more of its chain follow. */
  const cut = (id: string) => (id.endsWith('>') ? { ...chained(id), hasMore: true as const } : chained(id));

  test('a chain in several groups is taken whole, and what is between them comes in its turn', async () => {
    const tier = openTier({ 1: ['a0', 'a1>'], 2: ['b2', 'c3'], 3: ['a4>', 'd5'], 4: ['a6', 'a7'] }, 5, cut);
    const reader = tier.read();
    const chain = await takeAll(reader, 1);
    const { behind, isInTurn, lacksMoreSince } = await reader.takeBehind();
    assert.deepEqual([ids(behind), isInTurn, lacksMoreSince], [['a1>', 'a4>', 'a6', 'a7'], false, undefined]);
    const others = await takeAll(reader);
    assert.deepEqual(ids(others), ['b2', 'c3', 'd5']);
    for (const taken of [...chain, ...behind, ...others]) taken.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [4]);
  });

  test('a chain whose rest is not there yet says so, and is found when it is', async () => {
    const tier = openTier({ 1: ['a0>'], 2: ['b1'] }, 5, cut);
    const reader = tier.read();
    const [first] = await takeAll(reader, 1);
    assert.equal((await reader.takeBehind()).lacksMoreSince, 5);
    first?.keep();
    tier.append(3, ['a2']);
    const next = tier.read({ ...reader.position(), at: reader.stamp() });
    assert.deepEqual(ids(await takeAll(next, 1)), ['a0>']);
    assert.deepEqual(ids((await next.takeBehind()).behind), ['a2']);
  });

  test('a chain whose rest NATS cannot show loses nothing', async () => {
    const tier = openTier({ 1: ['a0', 'b1', 'a2>'] }, 5, cut);
    const reader = tier.read();
    const [first] = await takeAll(reader, 1);
    tier.trouble.read = true;
    await assert.rejects(reader.takeBehind());
    first?.keep();
    tier.trouble.read = false;
    const next = tier.read({ ...reader.position(), at: reader.stamp() });
    assert.deepEqual(ids(await takeAll(next)), ['a0', 'b1', 'a2>']);
  });

  test('a chain whose first one is kept stays whole', async () => {
    const tier = openTier({ 1: ['a0', 'b1', 'a2'] }, 0, chained);
    const reader = tier.read();
    const chain = [...(await takeAll(reader, 1)), ...(await reader.takeBehind()).behind];
    for (const taken of await takeAll(reader)) taken.done();
    for (const taken of chain) taken.keep();
    assert.deepEqual(reader.position(), { sequence: 1, taken: 0, ahead: [1] }, 'and no other delivery is sent again');
  });

  test('a chain that is kept half-way goes on where it stopped, and what was done behind it is not shown again', async () => {
    const tier = openTier({ 1: ['a0', 'a1', 'b2', 'a3'], 2: ['c4', 'd5', 'e6'], 3: ['f7'] }, 5, chained);
    const reader = tier.read();
    const [first, second, third] = [...(await takeAll(reader, 1)), ...(await reader.takeBehind()).behind];
    // All but the last two are taken and done behind it.
    for (const taken of await takeAll(reader, 2)) taken.done();
    first?.done();
    second?.keep();
    third?.keep();
    const position = { ...reader.position(), at: reader.stamp() };
    assert.deepEqual(position, { sequence: 1, taken: 1, ahead: [2], begun: [{ sequence: 2, taken: 1 }], at: 5 });
    const next = tier.read(position);
    assert.deepEqual(ids(await takeAll(next, 1)), ['a1']);
    const { behind, isInTurn } = await next.takeBehind();
    assert.deepEqual([ids(behind), isInTurn], [['a3'], true]);
    assert.deepEqual(ids(await takeAll(next)), ['d5', 'e6', 'f7']);
    const anew = tier.read({ ...position, at: 4 });
    assert.equal((await takeAll(anew)).length, 8, 'other groups have the same sequences');
  });

  test('groups behind a chain are dropped one by one when it takes long, and when the look ends', async () => {
    const tier = openTier({ 1: ['a0', 'a1'], 2: ['b2'], 3: ['c3'], 4: ['d4'] }, 5, chained);
    const reader = tier.read();
    const chain = [...(await takeAll(reader, 1)), ...(await reader.takeBehind()).behind];
    const [b, c] = await takeAll(reader, 2);
    b?.done();
    await reader.drop();
    assert.deepEqual(tier.left(), ['a0', 'a1', 'b2', 'c3', 'd4']);
    tier.clock.now += 2_000;
    await reader.drop();
    assert.deepEqual(tier.left(), ['a0', 'a1', 'c3', 'd4']);
    c?.done();
    for (const taken of chain) taken.keep();
    await reader.drop(true);
    assert.deepEqual([tier.left(), tier.drops, reader.done()], [['a0', 'a1', 'd4'], [], 2]);
    assert.deepEqual(reader.position(), { sequence: 1, taken: 0 });
  });
});
