import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LaneHealth } from '../../../domain/lane-health.ts';
import type { DestinationBrief } from '../../../store/destinations.ts';
import type { WaitingRow } from '../../../store/waiting-deliveries.ts';
import { tellLane, type TroubledLane } from './tell-attention.ts';

const NOW = new Date('2026-11-16T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS);

const LANE: LaneHealth = {
  destinationId: 'dst_1',
  workspaceId: 'ws_1',
  state: 'waiting',
  since: '2026-11-16T10:00:00.000Z',
  depth: 5,
  bytes: 500,
  updatedAt: '2026-11-16T11:59:00.000Z',
};
const DESTINATION: DestinationBrief = {
  id: 'dst_1',
  source_id: 'src_1',
  name: 'CRM',
  enabled: true,
  paused_at: null,
  resumed_at: null,
};

function told(lane: Partial<LaneHealth>, destination: Partial<DestinationBrief> = {}, oldestHours = 0.5) {
  return toldOf(lane, { destination, oldest: { received_at: ago(oldestHours), first_attempt_at: ago(oldestHours) } });
}

type Given = { destination?: Partial<DestinationBrief>; oldest?: Partial<WaitingRow>; windowMs?: number };

function toldOf(lane: Partial<LaneHealth>, { destination, oldest: given, windowMs = 4 * HOUR_MS }: Given) {
  const oldest = {
    id: 'dlv_1',
    destination_id: 'dst_1',
    received_at: ago(0.5),
    first_attempt_at: ago(0.5),
    replay_id: null,
    ...given,
  };
  const troubled: TroubledLane = {
    lane: { ...LANE, ...lane },
    destination: { ...DESTINATION, ...destination },
    oldest,
  };
  return tellLane(troubled, { now: NOW, windowMs });
}

suite('a lane', () => {
  test('in which few deliveries wait for their time is no trouble', () => {
    assert.equal(told({}), undefined);
    assert.equal(told({ state: 'draining', depth: 999 }), undefined);
  });

  test('with a deep backlog says how long it takes to clear', () => {
    const backlog = told({ state: 'draining', depth: 90_000, clearInMs: 1_500_000 });
    assert.deepEqual([backlog?.kind, backlog?.severity], ['destination_backlog', 'warning']);
    assert.match(backlog?.sentence ?? '', /90000 deliveries wait.* At this rate it takes 25 min to clear\./);
  });

  test('whose oldest delivery is given up within an hour is trouble although it is short', () => {
    assert.match(told({}, {}, 3.5)?.sentence ?? '', /the oldest is given up at 2026-11-16T12:30:00\.000Z/);
    assert.equal(told({}, { resumed_at: ago(0.1) }, 3.5), undefined, 'it has its whole time since it was resumed');
  });

  test('says no time at which the oldest is given up when the record cannot know it', () => {
    const failing = (oldest: Partial<WaitingRow>) => toldOf({ state: 'failing' }, { oldest })?.sentence ?? '';
    const old = { received_at: ago(9), first_attempt_at: ago(9) };
    for (const oldest of [old, { ...old, replay_id: 'rpl_1' }, { replay_id: 'rpl_1' }]) {
      assert.match(failing(oldest), /5 deliveries wait\.$/);
      assert.equal(toldOf({}, { oldest }), undefined, 'nor is it trouble for that');
    }
    const outage = { received_at: ago(3.5), first_attempt_at: null };
    assert.match(failing(outage), /the oldest is not given up before 2026-11-16T12:30:00\.000Z/);
    assert.match(failing({ received_at: ago(5), first_attempt_at: null }), /5 deliveries wait\.$/);
  });

  test('counts with the window of the retry schedule', () => {
    const quick = toldOf({ state: 'failing' }, { windowMs: HOUR_MS });
    assert.match(quick?.sentence ?? '', /the oldest is given up at 2026-11-16T12:30:00\.000Z/);
  });

  test('of a receiver that asked to wait says until when', () => {
    const waiting = told({
      state: 'asked_to_wait',
      nextAt: '2026-11-16T12:05:00.000Z',
      why: 'the receiver answered 429',
    });
    assert.equal(waiting?.kind, 'destination_asked_to_wait');
    assert.match(
      waiting?.sentence ?? '',
      /asked us to wait until 2026-11-16T12:05:00\.000Z \(the receiver answered 429\)/,
    );
  });

  test('of a failing destination is critical, also when nothing waits', () => {
    const failing = told({ state: 'failing', depth: 0 });
    assert.deepEqual([failing?.severity, failing?.since], ['critical', LANE.since]);
    assert.match(failing?.sentence ?? '', /Nothing waits\.$/);
  });

  test('of a destination that is sent nothing is trouble only while something waits', () => {
    assert.equal(told({ state: 'paused' }, { enabled: false })?.kind, 'destination_disabled');
    assert.equal(told({ state: 'paused' }, { paused_at: ago(1) })?.kind, 'destination_paused');
    assert.equal(told({ state: 'paused', depth: 0 }, { enabled: false }), undefined);
    assert.equal(told({ state: 'paused', depth: 0 }, { paused_at: ago(1) }), undefined);
  });
});
