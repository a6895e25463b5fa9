import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawSoak } from './draw-soak.ts';
import { SERIES } from './series.ts';

test('a plot has a line for each series and slice, with a gap where nothing could be read', () => {
  const samples = [0, 1, 2].map((minute) => ({ minute, values: minute === 1 ? {} : { lanes: 10 * minute } }));
  const svg = drawSoak([
    { minutes: 3, samples },
    { minutes: 3, samples },
  ]);
  for (const name of Object.keys(SERIES)) assert.ok(svg.includes(`${name}: most`), name);
  assert.equal(svg.match(/<polyline/g)?.length, 2 * Object.keys(SERIES).length);
  assert.ok(svg.includes('lanes: most 20 MB, last 20 MB'));
  assert.ok(svg.includes('points="0.0,110.0 113.3,20.0"'));
});
