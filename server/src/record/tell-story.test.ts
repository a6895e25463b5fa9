import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { foldOutcome } from './fold-outcome.ts';
import { attempted, BASE } from '../../testing/outcomes.ts';
import { tellStory } from './tell-story.ts';

const at = Date.parse('2026-11-15T12:00:00Z');
const rowAfter = (entry: OutcomeEntry) => foldOutcome(undefined, entry).row;
const told = (entry: OutcomeEntry) => tellStory({ row: rowAfter(entry), attempts: [], lane: undefined }).join('\n');

suite('the story of a delivery', () => {
  test('names the rule that kept it from being sent', () => {
    const skipped = (reason: string) => told({ ...BASE, at, kind: 'skipped', reason });
    assert.equal(skipped('destination_disabled'), 'Not sent: the destination was not enabled.');
    assert.match(skipped('integrations_map'), /integrations map turns this kind of destination off/);
    assert.match(skipped('blocked_event'), /the event "Signed Up" is blocked in the source's schema/);
    assert.match(skipped('type_not_accepted'), /does not take track calls/);
    assert.match(skipped('filtered'), /filter does not let it through/);
    const rule = 'properties.plan equals "pro"';
    const filtered = told({ ...BASE, at, kind: 'skipped', reason: 'filtered', rule });
    assert.equal(filtered, `Not sent: the destination's filter asks for events where ${rule}.`);
    assert.match(skipped('erased'), /^Not sent: its user was erased before it could be\.$/);
    assert.match(skipped('suppressed'), /asked to be forgotten/);
    assert.equal(skipped('a_new_rule'), 'Not sent: a_new_rule.');
  });

  test('says how it was given up without an attempt', () => {
    assert.match(told({ ...BASE, at, kind: 'given_up', attempts: 0, reason: 'lane_full' }), /there was no room for it/);
    const deleted = { kind: 'given_up', attempts: 1, reason: 'destination_deleted' } as const;
    assert.match(told({ ...BASE, at, ...deleted }), /its destination was deleted while it waited/);
    const unkept = { kind: 'given_up', attempts: 1, letter: 'refused' } as const;
    for (const reason of ['lane_full', 'expired'] as const) {
      assert.match(told({ ...BASE, at, ...unkept, reason }), /not kept as a dead letter/);
    }
    assert.match(told({ ...BASE, at, kind: 'given_up', attempts: 0, reason: 'expired' }), /its 4 hours are over/);
  });

  test('says how many events a batch had, and why a refused one is tried again', () => {
    const answers = [{ url: 'https://a.example/', status: 400, events: 100, timings: { totalMs: 3 } }];
    const row = rowAfter(attempted(1, 'retry', 400));
    const attempt = { workspace_id: 'ws_1', delivery_id: 'dlv_1', received_on: '2026-11-15', destination_id: 'dst_1' };
    const made = { ...attempt, at: new Date(at), attempt: 1, total_ms: 3, next_at: null, replay_id: null, answers };
    const story = (outcome: string) => tellStory({ row, attempts: [{ ...made, outcome }], lane: undefined }).join('\n');
    assert.match(
      story('retry'),
      /answered 400 \(.*, 3 ms, in a batch of 100 events\)\. .*goes again in a smaller batch\./,
    );
    assert.doesNotMatch(story('discarded'), /smaller batch/);
  });

  test('says when answers are not kept', () => {
    assert.match(
      told(attempted(1, 'delivered', 200)),
      /^Attempt 1 was made; its answers are not kept .*\nDelivered at/,
    );
  });

  test('says of an erased user when attempts were made, and not what was answered', () => {
    const row = { ...rowAfter(attempted(1, 'delivered', 200)), is_erased: true };
    const attempt = { workspace_id: 'ws_1', delivery_id: 'dlv_1', received_on: '2026-11-15', destination_id: 'dst_1' };
    const made = { ...attempt, at: new Date(at), attempt: 1, total_ms: 3, next_at: null, replay_id: null, answers: [] };
    const [first, , last] = tellStory({ row, attempts: [{ ...made, outcome: 'delivered' }], lane: undefined });
    assert.equal(first, 'Attempt 1 at 2026-11-15T12:00:00.000Z: its answers are erased.');
    assert.match(last ?? '', /^Its user was erased since/);
  });

  test('says where it waits, since when and how long that takes', () => {
    const lane = {
      destinationId: 'dst_1',
      workspaceId: 'ws_1',
      state: 'failing',
      since: '2026-11-15T11:00:00.000Z',
      why: 'the receiver answered 503',
      nextAt: '2026-11-15T12:05:00.000Z',
      depth: 12,
      bytes: 1,
      clearInMs: 2_400,
      updatedAt: '2026-11-15T12:00:00.000Z',
    } as const;
    const row = rowAfter(attempted(1, 'retry', 503));
    const story = tellStory({ row, attempts: [], lane }).join('\n');
    assert.match(story, /It waits to be tried again, not before 20\d\d-/);
    assert.match(story, /only probes are sent \(the receiver answered 503\), since 2026-11-15T11:00:00.000Z/);
    assert.match(
      story,
      /looked at next at 2026-11-15T12:05:00.000Z. 12 deliveries wait, which takes about 3 s to clear\.$/,
    );
  });
});
