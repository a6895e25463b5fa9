import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { StampedPosition } from './lane-note.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { EVENT } from '../../../testing/samples.ts';
import { openMemoryLane } from '../../../testing/memory-lane.ts';
import type { Taken } from './tier-group.ts';
import { readTier } from './tier-reader.ts';

/** A tier in memory, and a reader of it with a clock of the test's own. */
function openTier(groups: Record<number, string[]>, parkedAt = 0, each?: (id: string) => Partial<Delivery>) {
  const { stored, drops, reads, trouble, lanes } = openMemoryLane(groups, { parkedAt }, each);
  const seen: number[] = [];
  const clock = { now: 0 };
  const needs = {
    lanes,
    destinationId: 'dst_1',
    groups: Infinity,
    seen: ({ deliveries }: { deliveries: number }) => void seen.push(deliveries),
    longestMs: 0,
    uptimeMs: () => clock.now,
  };
  return {
    clock,
    drops,
    trouble,
    seen,
    reads,
    append: (sequence: number, ids: string[]) => stored.set(sequence, ids),
    left: () => [...stored.values()].flat(),
    read: (start?: StampedPosition) => readTier(2, start, needs),
    readCounted: () => readTier(2, undefined, { ...needs, groups: stored.size }),
  };
}

type Reader = ReturnType<typeof readTier>;

async function takeAll(reader: Reader, most = Infinity): Promise<Taken[]> {
  const all: Taken[] = [];
  while (all.length < most && (await reader.head()) !== undefined) all.push(reader.take() ?? assert.fail());
  return all;
}

const ids = (all: readonly Taken[]) => all.map(({ delivery }) => delivery.id);

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

suite('reading a tier', () => {
  test('shows the oldest first, over all groups, and each once', async () => {
    const tier = openTier({ 3: ['a', 'b'], 7: ['c'], 8: ['d', 'e'] });
    const reader = tier.read();
    assert.equal(reader.tier, 2);
    assert.equal((await reader.head())?.id, 'a');
    assert.equal((await reader.head())?.id, 'a', 'looking takes nothing');
    assert.deepEqual(ids(await takeAll(reader)), ['a', 'b', 'c', 'd', 'e']);
    assert.equal(reader.take(), undefined);
    assert.deepEqual(tier.seen, [2, 1, 2]);
  });

  test('reads on when more has been parked, but asks for it once a second at most', async () => {
    const tier = openTier({ 1: ['a'] });
    const reader = tier.read();
    await takeAll(reader);
    const reads = tier.reads();
    tier.append(2, ['b']);
    assert.equal(await reader.head(), undefined);
    assert.equal(tier.reads(), reads, 'the end was seen just now');
    tier.clock.now += 1_000;
    assert.equal((await reader.head())?.id, 'b');
  });

  test('does not ask what comes after the groups that were counted, until a second later', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'] });
    const reader = tier.readCounted();
    tier.append(3, ['c']);
    const first = await takeAll(reader);
    assert.deepEqual(ids(first), ['a', 'b']);
    assert.equal(tier.reads(), 1);
    tier.clock.now += 1_000;
    for (let sequence = 4; sequence < 20; sequence += 1) tier.append(sequence, [`d${sequence}`]);
    assert.equal((await takeAll(reader)).length, 17, 'and then goes on without a pause');
    for (const taken of first) taken.done();
    await reader.drop();
    assert.equal(reader.done(), 2);
  });

  test('goes through more groups than are read at once', async () => {
    const groups = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [index + 1, [`d${index}`]]));
    const tier = openTier(groups);
    assert.equal((await takeAll(tier.read())).length, 30);
    assert.ok(tier.reads() >= 4);
  });
});

suite('what is done with', () => {
  test('is dropped when the whole group is, whatever the order', async () => {
    const tier = openTier({ 1: ['a', 'b', 'c'], 2: ['d'] });
    const reader = tier.read();
    const [a, b, c] = await takeAll(reader, 3);
    c?.done();
    a?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, []);
    b?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [1]);
    assert.deepEqual(tier.left(), ['d']);
  });

  test('is dropped only from the beginning on: one that is under way holds back all after it', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'], 5: ['c'], 6: ['d'] });
    const reader = tier.read();
    const [a, b, c] = await takeAll(reader, 3);
    b?.done();
    c?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, []);
    const begun = [2, 5].map((sequence) => ({ sequence, taken: 1 }));
    assert.deepEqual(reader.position(), { sequence: 1, taken: 1, begun });
    a?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [5], 'all three at once');
    assert.deepEqual(tier.left(), ['d']);
  });

  test('is not dropped twice', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'] });
    const reader = tier.read();
    for (const taken of await takeAll(reader, 1)) taken.done();
    await reader.drop();
    await reader.drop();
    assert.deepEqual(tier.drops, [1]);
  });

  test('is dropped by the next reader, if the one that was done with it could not', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'] });
    const next = tier.read({ sequence: 3, taken: 0 });
    await next.drop();
    assert.deepEqual(tier.drops, [], 'not before it has looked');
    assert.equal(await next.head(), undefined);
    await next.drop();
    assert.deepEqual(tier.drops, [2]);
    assert.deepEqual(next.position(), { sequence: 3, taken: 0 });
  });

  test('is dropped also when only the position was asked for before', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'] });
    const reader = tier.read();
    for (const taken of await takeAll(reader, 1)) taken.done();
    reader.position();
    await reader.drop();
    assert.deepEqual(tier.drops, [1]);
  });
});

suite('what is kept', () => {
  test('stays, and ends the reading: nothing is taken after it', async () => {
    const tier = openTier({ 1: ['a', 'b', 'c', 'd'], 2: ['e'] });
    const reader = tier.read();
    const [a, b, c] = await takeAll(reader, 3);
    a?.done();
    b?.keep();
    c?.keep();
    assert.equal(await reader.head(), undefined);
    assert.equal(reader.take(), undefined);
    await reader.drop();
    assert.deepEqual(tier.drops, []);
    assert.deepEqual(reader.position(), { sequence: 1, taken: 1 });
  });

  test('in a later group lets the groups before it go', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b', 'c'] });
    const reader = tier.read();
    const [a, b, c] = await takeAll(reader, 3);
    c?.keep();
    a?.done();
    b?.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [1]);
    assert.deepEqual(reader.position(), { sequence: 2, taken: 1 });
  });
});

suite('the position', () => {
  test('of one that has read nothing is where it started', () => {
    assert.deepEqual(openTier({}).read().position(), { sequence: 1, taken: 0 });
    assert.deepEqual(openTier({}).read({ sequence: 9, taken: 2 }).position().sequence, 9);
  });

  test('behind the last group is the sequence that comes next', async () => {
    const reader = openTier({ 4: ['a'] }).read();
    for (const taken of await takeAll(reader)) taken.done();
    assert.deepEqual(reader.position(), { sequence: 5, taken: 0 });
  });

  test('is where the next reader goes on: what is done with is not shown again, also if it could not be dropped', async () => {
    const tier = openTier({ 1: ['a', 'b', 'c'], 2: ['d'] });
    const first = tier.read();
    for (const taken of await takeAll(first, 2)) taken.done();
    const second = tier.read(first.position());
    assert.deepEqual(ids(await takeAll(second)), ['c', 'd']);
  });

  test('that a lagging replica still shows the past of is not gone back behind', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'] });
    assert.deepEqual(ids(await takeAll(tier.read({ sequence: 2, taken: 0 }))), ['b']);
  });

  test('in a group that is gone by now does not skip anything of the next one', async () => {
    const tier = openTier({ 5: ['x', 'y', 'z'] });
    assert.deepEqual(ids(await takeAll(tier.read({ sequence: 3, taken: 2 }))), ['x', 'y', 'z']);
  });

  test('survives being nothing but read: a reader that took nothing leaves it as it was', async () => {
    const tier = openTier({ 1: ['a', 'b', 'c'] });
    const reader = tier.read({ sequence: 1, taken: 1 });
    assert.equal((await reader.head())?.id, 'b');
    assert.deepEqual(reader.position(), { sequence: 1, taken: 1 });
    const untouched = tier.read({ sequence: 1, taken: 1 });
    assert.deepEqual(untouched.position(), { sequence: 1, taken: 1 });
  });
});

suite('a position that does not fit the stream', () => {
  const taken = async (reader: Reader) => ids(await takeAll(reader));

  test('beyond its end hides nothing and drops nothing that was not seen', async () => {
    const tier = openTier({ 1: ['a'], 2: ['b'], 3: ['c'] });
    const reader = tier.read({ sequence: 5_000, taken: 0 });
    const all = await takeAll(reader);
    assert.deepEqual(ids(all), ['a', 'b', 'c']);
    await reader.drop();
    assert.deepEqual(tier.drops, []);
    for (const one of all) one.done();
    await reader.drop();
    assert.deepEqual(tier.drops, [3]);
    assert.deepEqual(reader.position(), { sequence: 4, taken: 0 });
  });

  test('is not believed about groups that were parked after it was written', async () => {
    const tier = openTier({ 1: ['a', 'b'], 2: ['c'], 3: ['d'] }, 700);
    assert.deepEqual(await taken(tier.read({ sequence: 3, taken: 0, at: 699 })), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await taken(tier.read({ sequence: 1, taken: 1, at: 699 })), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await taken(tier.read({ sequence: 3, taken: 0, at: 700 })), ['d']);
    assert.deepEqual(await taken(tier.read({ sequence: 1, taken: 1, at: 700 })), ['b', 'c', 'd']);
  });

  test('of a reader that did nothing says nothing about what was there before', async () => {
    const first = openTier({ 7: ['x'] }, 500).read();
    assert.equal((await first.head())?.id, 'x');
    const position = { ...first.position(), at: first.stamp() };
    assert.deepEqual(position, { sequence: 7, taken: 0, at: 0 });
    assert.deepEqual(await taken(openTier({ 3: ['restored'], 7: ['x'] }, 400).read(position)), ['restored', 'x']);
  });

  test('goes through more of what is done with than is read at once', async () => {
    const groups = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [index + 1, [`d${index}`]]));
    const tier = openTier({ ...groups, 31: ['next'] });
    const reader = tier.read({ sequence: 31, taken: 0 });
    assert.equal((await reader.head())?.id, 'next');
    await reader.drop();
    assert.deepEqual(tier.drops, [30]);
  });
});
