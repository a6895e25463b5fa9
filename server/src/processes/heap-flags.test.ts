import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { heapFlags } from './heap-flags.ts';

const GIB = 2 ** 30;
const needs = { limitBytes: 4 * GIB, totalBytes: 32 * GIB, processes: 4, given: '', ownHeapBytes: 2 * GIB };

suite('the heap of each child', () => {
  test('is half of its share of the memory limit, as Node gives it to a process alone', () => {
    assert.deepEqual(heapFlags(needs), ['--max-old-space-size=512']);
    assert.deepEqual(heapFlags({ ...needs, processes: 3 }), ['--max-old-space-size=682']);
  });

  test('follows from the memory of the machine where there is no limit, or one above it', () => {
    const machine = { ...needs, totalBytes: 8 * GIB, ownHeapBytes: 4 * GIB };
    assert.deepEqual(heapFlags({ ...machine, limitBytes: undefined }), ['--max-old-space-size=1024']);
    assert.deepEqual(heapFlags({ ...machine, limitBytes: 64 * GIB }), ['--max-old-space-size=1024']);
  });

  test('is left to V8 where the share allows more than V8 takes by itself', () => {
    assert.deepEqual(heapFlags({ ...needs, limitBytes: undefined, totalBytes: 64 * GIB, ownHeapBytes: 4 * GIB }), []);
  });

  test('never falls below the heap that a child needs to work', () => {
    assert.deepEqual(heapFlags({ ...needs, processes: 64 }), ['--max-old-space-size=256']);
  });

  test('is that of the operator where NODE_OPTIONS or a flag has one', () => {
    for (const given of ['--max-old-space-size=900', '--enable-source-maps --max_old_space_size=900'])
      assert.deepEqual(heapFlags({ ...needs, given }), []);
  });
});
