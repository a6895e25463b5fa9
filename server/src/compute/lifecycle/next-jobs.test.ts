import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LifeJob } from '../../store/definitions/life-jobs.ts';
import { nameOf, nextJobs } from './next-jobs.ts';

const deletion = (workspaceId: string, definition: number): LifeJob => ({ kind: 'deletion', workspaceId, definition });
const version = (workspaceId: string, definition: number): LifeJob => ({
  kind: 'version',
  workspaceId,
  definition,
  version: 1,
});
const named = (jobs: readonly LifeJob[]) => new Map(jobs.map((job) => [nameOf(job), job]));

suite('jobs of the lifecycle', () => {
  test('are begun after those that have waited longer, whatever their kind', () => {
    const deletions = [1, 2, 3, 4].map((definition) => deletion('ws_1', definition));
    const begun = new Map(deletions.map((job, nth) => [nameOf(job), nth + 1]));
    const next = nextJobs([...deletions, version('ws_1', 5)], { running: new Map(), begun, most: 2 });
    assert.deepEqual(next, [version('ws_1', 5)], 'and one workspace leaves a place to others');
  });

  test('leave a place to other workspaces', () => {
    const large = [1, 2, 3, 4, 5].map((definition) => version('ws_1', definition));
    const jobs = [...large, version('ws_2', 6), version('ws_3', 7)];
    const none = { running: new Map(), begun: new Map(), most: 4 };
    assert.deepEqual(nextJobs(jobs, none), [large[0], version('ws_2', 6), version('ws_3', 7), large[1]]);
    assert.equal(nextJobs(large, none).length, 3);
    const running = named(large.slice(0, 3));
    assert.deepEqual(nextJobs(jobs, { ...none, running }), [version('ws_2', 6)]);
  });

  test('do not run twice, and not more than there are places', () => {
    const running = named([version('ws_1', 1), version('ws_2', 2)]);
    const jobs = [version('ws_1', 1), version('ws_2', 2), version('ws_3', 3)];
    assert.deepEqual(nextJobs(jobs, { running, begun: new Map(), most: 3 }), [version('ws_3', 3)]);
    assert.deepEqual(nextJobs(jobs, { running, begun: new Map(), most: 2 }), []);
  });
});
