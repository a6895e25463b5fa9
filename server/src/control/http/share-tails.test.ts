import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MAX_TAILS, type OpenTail, shareTails } from './share-tails.ts';

const tail = (workspaceId: string, actorId: string, role: OpenTail['role'] = 'viewer'): OpenTail => ({
  workspaceId,
  actorId: `${workspaceId} ${actorId}`,
  role,
});
const many = (count: number, make: (i: number) => OpenTail) => Array.from({ length: count }, (_, i) => make(i));

suite('live tails', () => {
  test('are few for one token or session', () => {
    const open = many(MAX_TAILS.actor, () => tail('w1', 'viewer'));
    assert.deepEqual(shareTails(open, tail('w1', 'viewer')), { kind: 'refuse' });
    assert.deepEqual(shareTails(open, tail('w1', 'other')), { kind: 'open' });
  });

  test('never keep another one of the workspace out', () => {
    const open = many(MAX_TAILS.workspace, (i) => tail('w1', `viewer${Math.floor(i / 10)}`));
    const share = shareTails(open, tail('w1', 'owner', 'owner'));
    assert.equal(share.kind, 'give');
    assert.equal(share.kind === 'give' && share.from, open[0], 'the oldest of whoever has the most');
  });

  test('never keep an owner out, though everybody has only one', () => {
    const open = many(MAX_TAILS.workspace, (i) => tail('w1', `viewer${i}`));
    assert.equal(shareTails(open, tail('w1', 'owner', 'owner')).kind, 'give');
    assert.equal(shareTails(open, tail('w1', 'one more')).kind, 'refuse');
  });

  test('never keep another workspace out, however many workspaces are greedy', () => {
    const open = many(MAX_TAILS.total, (i) => tail(`w${i % 2}`, `viewer${i % 14}`));
    const share = shareTails(open, tail('w9', 'somebody'));
    assert.equal(share.kind, 'give');
    const each = many(MAX_TAILS.total, (i) => tail(`w${i}`, 'viewer'));
    assert.equal(shareTails(each, tail('w9999', 'viewer')).kind, 'refuse', 'a hundred workspaces have one each');
  });
});
