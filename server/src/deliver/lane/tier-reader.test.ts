import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ids, openTier, type Reader, takeAll } from '../../../testing/memory-tier.ts';

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
