import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkspaceLimits } from '../limits/workspace-limits.ts';
import { ApiProblem } from '../problems/problems.ts';
import { openRequestLimit } from './limit-requests.ts';

const PER_SECOND = 10;

function openLimit() {
  const clock = { ms: 0, isFree: false };
  const limits = {
    of: () => (clock.isFree ? {} : { apiRequestsPerSecond: PER_SECOND }),
    refusal: () => new ApiProblem('too_many_requests_a_second'),
  } as unknown as WorkspaceLimits;
  return { clock, limit: openRequestLimit(limits, () => clock.ms) };
}

function isRefused(work: () => void): boolean {
  try {
    work();
    return false;
  } catch (error) {
    assert.ok(error instanceof ApiProblem);
    return true;
  }
}

describe('requests over the limit of a workspace', () => {
  it('refuses a sender that was refused before, without knowing who it is, until there is room', () => {
    const { clock, limit } = openLimit();
    for (let nth = 0; nth < PER_SECOND * 2; nth += 1) limit.take('ws_a', 'one');
    assert.ok(!isRefused(() => limit.recall('one')), 'nothing of it was refused yet');
    assert.ok(isRefused(() => limit.take('ws_a', 'one')));
    assert.ok(isRefused(() => limit.recall('one')));
    assert.ok(!isRefused(() => limit.recall('two')), 'another sender of the workspace is looked up first');
    clock.ms += 150;
    assert.ok(!isRefused(() => limit.recall('one')), 'a tenth of a second makes room for one');
    limit.take('ws_a', 'one');
    assert.ok(isRefused(() => limit.take('ws_a', 'one')));
  });

  it('looks a sender up again after a second: it may have lost its rights', () => {
    const { clock, limit } = openLimit();
    for (let nth = 0; nth < PER_SECOND * 2; nth += 1) limit.take('ws_a', 'one');
    assert.ok(isRefused(() => limit.take('ws_a', 'one')));
    clock.ms += 90;
    assert.ok(isRefused(() => limit.recall('one')));
    clock.ms += 1_000;
    for (let nth = 0; nth < PER_SECOND; nth += 1) limit.take('ws_a', 'two');
    assert.ok(!isRefused(() => limit.recall('one')));
  });

  it('refuses nothing of a workspace without a limit, and counts nothing against a later one', () => {
    const { clock, limit } = openLimit();
    limit.take('ws_a', 'one');
    clock.isFree = true;
    for (let nth = 0; nth < 1_000; nth += 1) limit.take('ws_a', 'one');
    limit.recall('one');
    clock.isFree = false;
    limit.take('ws_a', 'one');
  });
});
