import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { figure } from '../../../cli/src/sizing/figures.ts';
import { cpuUsOf } from '../../../cli/src/sizing/measured-costs.ts';
import { cpuRows, isHeld, type MeasuredLoad, row, shapeOf } from '../sizing/compare.ts';
import { PARTS } from '../sizing/installation.ts';
import { judged } from './bench-scale.ts';

const LOAD = { name: 'batched', events: 100, callsPerRequest: 20, padding: 0, destinations: 1, failingShare: 0.25 };
const SEEN = { eventBytes: 650, eventsPerPost: 40 };

/** A round in which every part took this much more than the calculator says, on a processor that took `slowness` times as long. */
function round(factor: number, slowness = 1): MeasuredLoad {
  const us = PARTS.map((part) => [part, slowness * factor * cpuUsOf(part, shapeOf(LOAD, SEEN))]);
  const cpuUs = Object.fromEntries(us) as MeasuredLoad['cpuUs'];
  const pieceUs = slowness * figure('cpu.piece');
  return { load: LOAD, ...SEEN, cpuUs, pieceUs, memoryBytes: cpuUs, streamBytes: {}, postBytes: 0 };
}

suite('the comparison of the calculator with a load', () => {
  test('asks the calculator about the events of a POST as they were in the run, and about failures', () => {
    const { eventsPerPost, failingShare, callsPerRequest } = shapeOf(LOAD, SEEN);
    assert.deepEqual([eventsPerPost, failingShare, callsPerRequest], [40, 0.25, 20]);
  });

  test('has a row for each part and one for each load, of the middle round, without what the processor took longer', () => {
    const rows = cpuRows([round(1), round(9), round(1.25, 2)], [LOAD]);
    assert.equal(rows.length, PARTS.length + 1);
    assert.deepEqual(new Set(rows.map(({ ratio }) => ratio)), new Set([0.8]));
  });

  test('is off beyond 30 % in either direction; CPU time of a tiny run does not count', () => {
    const [held, low, high] = [row('a', 100, 129), row('b', 100, 69), row('c', 100, 131)];
    assert.deepEqual([held, low, high].map(isHeld), [true, false, false]);
    assert.deepEqual(judged([low], [held, high], false), [low, high]);
    assert.deepEqual(judged([low], [held, high], true), [high]);
  });
});
