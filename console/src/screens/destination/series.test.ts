import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearText, depthChange, everyStep, fineStep } from './series.ts';

test('every step has a value, and a step that the API left out has the gap', () => {
  const span = { from: '2026-11-17T10:00:00Z', to: '2026-11-17T10:05:00Z', step: 60 };
  const { times, values } = everyStep(span, [{ at: '2026-11-17T10:02:00Z', n: 7 }], ({ n }) => n, null);
  assert.equal(times.length, 5);
  assert.deepEqual(values, [null, null, 7, null, null]);
});

test('a day has steps of ten minutes, below the most that the API gives', () => {
  const now = Date.parse('2026-11-17T10:00:00Z');
  assert.equal(fineStep('2026-11-16T10:00:00Z', now), 600);
  assert.equal(fineStep('2026-11-17T09:00:00Z', now), 60);
});

test('the change of the depth is told by the minute', () => {
  const points = [
    { at: '2026-11-17T10:00:00Z', deliveries: 100 },
    { at: '2026-11-17T10:10:00Z', deliveries: 520 },
  ];
  const span = { to: '2026-11-17T10:15:00Z', step: 600 };
  assert.equal(depthChange(points, span), ', +42 a min');
  assert.equal(depthChange(points.slice(1), span), '');
  assert.equal(depthChange(points, { ...span, to: '2026-11-17T10:30:01Z' }), '');
});

test('the time to clear is said only when it is known', () => {
  assert.equal(clearText({ clearInMs: null, depth: 90 }, undefined), undefined);
  assert.match(clearText({ clearInMs: null, depth: 90 }, 3) ?? '', /^about 30.s$/);
  assert.match(clearText({ clearInMs: 240_000, depth: 90 }, 3) ?? '', /^about 4.min$/);
});
