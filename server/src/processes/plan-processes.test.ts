import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { planRoles, processesFor } from './plan-processes.ts';

const GIB = 2 ** 30;
const ALL = ['collect', 'deliver', 'control', 'compute'];

suite('the number of processes', () => {
  test('is that of the cores, as far as half of the memory of the machine goes', () => {
    const of = (cores: number, gib: number) => processesFor({ cores, limitBytes: undefined, totalBytes: gib * GIB });
    assert.deepEqual([of(1, 64), of(2, 1.9), of(2, 3.8), of(4, 7.6), of(8, 15.5), of(64, 256)], [1, 1, 1, 3, 7, 8]);
  });

  test('respects a limit of memory: one process for each GiB', () => {
    const of = (limitBytes: number) => processesFor({ cores: 16, limitBytes, totalBytes: 64 * GIB });
    assert.deepEqual([of(GIB / 2), of(GIB), of(4 * GIB)], [1, 1, 4]);
    assert.equal(of(Number.MAX_SAFE_INTEGER), 8, 'a limit above the memory of the machine is none');
  });
});

suite('the roles of processes', () => {
  test('are all of them in the first one, collect and deliver in the others', () => {
    assert.deepEqual(planRoles(ALL, 1), [ALL]);
    assert.deepEqual(planRoles(ALL, 3), [ALL, ['collect', 'deliver'], ['collect', 'deliver']]);
    assert.deepEqual(planRoles(['deliver'], 2), [['deliver'], ['deliver']]);
  });

  test('are in one process where neither collect nor deliver is played', () => {
    assert.deepEqual(planRoles(['control', 'compute'], 4), [['control', 'compute']]);
  });
});
