import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  addBytes,
  divideBytes,
  freeBytes,
  isCrowded,
  type Owner,
  type StreamUsage,
  usedShare,
} from './storage-shares.ts';

const emptyStream = (): StreamUsage => ({
  maxBytes: 1_000_000,
  usedBytes: 0,
  byDestination: new Map(),
  byWorkspace: new Map(),
});

/** Each in turn stores as long as it may. */
function fill(usage: StreamUsage, owners: readonly Owner[], bytes = 100): void {
  for (let isAnyStored = true; isAnyStored; ) {
    isAnyStored = false;
    for (const owner of owners) {
      if (usedShare(usage, owner) > 1) continue;
      addBytes(usage, owner, bytes);
      isAnyStored = true;
    }
  }
}

const partOf = (usage: StreamUsage, part: number) => Math.round((part / usage.maxBytes) * 100);
const owner = (destinationId: string, workspaceId: string): Owner => ({ destinationId, workspaceId });

suite('a share of what all workspaces store in', () => {
  test('is a quarter of the stream for one destination alone', () => {
    const usage = emptyStream();
    fill(usage, [owner('dst_1', 'ws_1')]);
    assert.equal(partOf(usage, usage.usedBytes), 25);
  });

  test('is half of it for one workspace, with however many destinations', () => {
    for (const count of [4, 1_000]) {
      const usage = emptyStream();
      fill(
        usage,
        Array.from({ length: count }, (_, index) => owner(`dst_${index}`, 'ws_1')),
      );
      assert.ok(partOf(usage, usage.usedBytes) <= 51, `${count}: ${partOf(usage, usage.usedBytes)} %`);
    }
  });

  test('shrinks as others fill the stream, so that a newcomer finds room', () => {
    for (const workspaces of [4, 20]) {
      const usage = emptyStream();
      const greedy = Array.from({ length: workspaces }, (_, w) =>
        Array.from({ length: 5 }, (__, d) => owner(`dst_${w}_${d}`, `ws_${w}`)),
      ).flat();
      fill(usage, greedy);
      assert.ok(freeBytes(usage) >= usage.maxBytes / (workspaces + 1) - 10_000, `${freeBytes(usage)} bytes are free`);
      assert.equal(usedShare(usage, owner('dst_new', 'ws_new')), 0);
      assert.ok(greedy.every((each) => usedShare(usage, each) > 1));
    }
  });

  test('stops the largest first', () => {
    const usage = emptyStream();
    fill(usage, [owner('dst_1', 'ws_1')]);
    addBytes(usage, owner('dst_2', 'ws_2'), 100_000);
    assert.ok(usedShare(usage, owner('dst_1', 'ws_1')) > 1);
    assert.ok(usedShare(usage, owner('dst_2', 'ws_2')) < 1);
  });

  test('has no limit where the stream has none', () => {
    assert.equal(usedShare({ ...emptyStream(), maxBytes: -1, usedBytes: 1e12 }, owner('dst_1', 'ws_1')), 0);
  });

  test('needs nobody told apart before the stream is a quarter full', () => {
    assert.equal(isCrowded({ maxBytes: 1_000, usedBytes: 250 }), false);
    assert.equal(isCrowded({ maxBytes: 1_000, usedBytes: 251 }), true);
    assert.equal(isCrowded({ maxBytes: -1, usedBytes: 1e12 }), false);
  });
});

suite('bytes by destination', () => {
  test('are its messages times their size, where this process knows it, and the average where it does not', () => {
    const held = new Map([
      ['dst_known', { messages: 10, bytesEach: 200 }],
      ['dst_a', { messages: 30, bytesEach: undefined }],
      ['dst_b', { messages: 10, bytesEach: undefined }],
    ]);
    assert.deepEqual(
      [...divideBytes(10_000, held)],
      [
        ['dst_known', 2_000],
        ['dst_a', 6_000],
        ['dst_b', 2_000],
      ],
    );
  });

  test('make no hog of a destination that holds little, when the size of the hog is out of date', () => {
    const held = new Map([
      ['dst_hog', { messages: 600, bytesEach: 1_000 }],
      ['dst_small', { messages: 5, bytesEach: undefined }],
    ]);
    const bytes = divideBytes(3_000_000, held);
    assert.ok((bytes.get('dst_small') ?? 0) < 150_000, `${bytes.get('dst_small')} bytes`);
    assert.ok((bytes.get('dst_hog') ?? 0) > 2_850_000);
  });

  test('add up to what the stream holds, also when a size is out of date', () => {
    const held = new Map([
      ['dst_1', { messages: 10, bytesEach: 3_000 }],
      ['dst_2', { messages: 10, bytesEach: 1_000 }],
    ]);
    assert.deepEqual([...divideBytes(10_000, held).values()], [7_500, 2_500]);
    assert.deepEqual([...divideBytes(0, new Map())], []);
  });
});
