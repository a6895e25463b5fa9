import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consumersOf, type Lagging, lagStill } from './leave-lagging.ts';

const lagging = (stream: string, ...behind: string[]): Lagging => ({ stream, leader: 'n1', behind: new Set(behind) });

test('a copy lags when it did at the look before too', () => {
  assert.deepEqual(lagStill([], [lagging('EVENTS-0', 'n2')]), []);
  assert.deepEqual(lagStill([lagging('EVENTS-1', 'n2')], [lagging('EVENTS-0', 'n2')]), []);
  assert.deepEqual(lagStill([lagging('EVENTS-0', 'n3')], [lagging('EVENTS-0', 'n2')]), []);
  assert.deepEqual(lagStill([lagging('EVENTS-0', 'n2', 'n3')], [lagging('EVENTS-0', 'n2')]), [
    lagging('EVENTS-0', 'n2'),
  ]);
});

test('streams that deliveries, tickets and the record wait for have consumers, and no others', () => {
  const streams = ['EVENTS-0', 'EVENTS-12', 'TICKETS', 'OUTCOMES', 'OUTCOMES-3', 'LANES-0', 'DEAD', 'KV_config'];
  assert.deepEqual(streams.map(consumersOf), [
    ['deliver'],
    ['deliver'],
    ['drain', 'drain-urgent'],
    ['record'],
    ['record'],
    [],
    [],
    [],
  ]);
});
