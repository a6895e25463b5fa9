import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LaneHealth } from '../domain/lane-health.ts';
import { toLane } from './record-answers.ts';

const LANE: LaneHealth = {
  destinationId: 'dst_1',
  workspaceId: 'ws_1',
  state: 'failing',
  since: '2026-01-01T00:00:00.000Z',
  depth: 3,
  bytes: 250,
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const roomOf = (limitBytes?: number) => toLane({ ...LANE, ...(limitBytes === undefined ? {} : { limitBytes }) })?.room;

suite('the room of a lane', () => {
  test('is the free part of what it may hold', () => assert.equal(roomOf(1_000), 0.75));
  test('is none when it holds more than it may by now', () => assert.deepEqual([roomOf(100), roomOf(0)], [0, 0]));
  test('is unknown where an older deliver process reports', () => assert.equal(roomOf(), null));
});
