import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LaneHealth } from '../../domain/lane-health.ts';
import { openLaneReports } from './lane-reports.ts';

const WAITS: LaneHealth = {
  destinationId: 'dst_1',
  workspaceId: 'ws_1',
  state: 'waiting',
  since: '2026-01-01T00:00:00.000Z',
  depth: 1,
  bytes: 10,
  updatedAt: '2026-01-01T00:00:00.000Z',
};

function openReports() {
  const health = { put: async () => true, remove: async () => undefined };
  const dispatcher = { gateOf: () => ({}) as never, shut: () => undefined, reopen: () => undefined };
  return openLaneReports({ health, dispatcher, quotaBytes: Infinity, now: () => 0 });
}

suite('a lane that this process appended to', () => {
  test('stays known when the removal of its former entry comes back', () => {
    const reports = openReports();
    reports.changed('dst_1', WAITS);
    reports.cleared('dst_1');
    reports.appended('dst_1', 10);
    reports.changed('dst_1', undefined);
    assert.equal(reports.isKnown('dst_1'), true);
  });

  test('is forgotten when another process found it empty', () => {
    const reports = openReports();
    reports.changed('dst_1', WAITS);
    reports.appended('dst_1', 10);
    reports.changed('dst_1', undefined);
    assert.equal(reports.isKnown('dst_1'), false);
  });
});
