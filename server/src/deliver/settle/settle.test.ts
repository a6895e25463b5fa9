import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RETRY_WINDOW_MS } from '../../domain/delivery.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { openLog } from '../../log.ts';
import { aDelivery, answersOf, aWebhook, status } from '../../../testing/samples.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { openSettlement, type SettlementNeeds } from './settle.ts';

const NOW = 1_794_701_326_999;
const HOUR_MS = 3_600_000;

suite('a Retry-After to a batch', () => {
  test('holds the gate for as long as the receiver asked, although one of its deliveries has less time left', async () => {
    const held: number[] = [];
    let now = NOW;
    const { settle } = openSettlement({
      parker: { park: async () => 1 },
      deadLetters: { append: async () => 'stored' },
      schedule: retrySchedule(1),
      hold: (_, until) => void held.push(until),
      record: async () => undefined,
      now: () => (now += 1),
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    const attempt = { startedAt: NOW, answers: answersOf(status(429, { retryAfter: '3600' })), events: 3 };
    const nearItsEnd = aDelivery({ id: 'old', attempts: 1, firstAttemptAt: NOW - RETRY_WINDOW_MS + HOUR_MS / 6 });
    for (const delivery of [nearItsEnd, aDelivery({ id: 'a' }), aDelivery({ id: 'b' })]) {
      assert.equal(await settle(delivery, aWebhook({ format: 'batch' }), attempt), 'retry');
    }
    const [first = 0, second = 0, ...others] = held;
    assert.ok(first < NOW + HOUR_MS / 6, 'the oldest is judged first, and may not wait past its window');
    assert.ok(second >= NOW + HOUR_MS, 'the others ask for all of the time');
    assert.deepEqual(others, [], 'the same time is asked for once');
  });
});

suite('a delivery whose last target was removed from the settings', () => {
  test('ends by what its other targets answered, and does not go round in the lane', async () => {
    const ended: string[] = [];
    const { settle } = openSettlement({
      parker: { park: async () => assert.fail('it was parked') },
      deadLetters: { append: async () => 'stored' },
      schedule: retrySchedule(1),
      hold: () => undefined,
      record: async (entry) => void ended.push(entry.kind === 'attempt' ? entry.outcome : entry.kind),
      now: () => NOW,
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    const nothingSent = { startedAt: NOW, answers: [] };
    const tried = (verdict: 'delivered' | 'failed') =>
      aDelivery({ attempts: 1, settled: { 'https://a.example/': verdict } });
    assert.equal(await settle(tried('delivered'), aWebhook({ policy: 'all' }), nothingSent), 'delivered');
    assert.equal(await settle(tried('failed'), aWebhook({ policy: 'any' }), nothingSent), 'discarded');
    assert.deepEqual(ended, ['delivered', 'discarded']);
  });
});

suite('settling', () => {
  /** Settles a chain of three in a lane that has room for some of them. */
  async function settleWithRoomFor(stored: number) {
    const buried: string[] = [];
    const told: string[] = [];
    const { settle } = openSettlement({
      parker: { park: async () => stored },
      deadLetters: { append: async (_, letterId) => (buried.push(letterId), 'stored') },
      schedule: retrySchedule(1),
      hold: () => undefined,
      record: async ({ deliveryId, kind }) => void told.push(`${deliveryId} ${kind}`),
      now: () => 0,
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    const [first, ...behind] = ['a', 'b', 'c'].map((id) => aDelivery({ id }));
    const settled = await settle(first ?? assert.fail(), aWebhook({ order: 'user' }), undefined, behind);
    return { settled, buried, told };
  }

  test('buries a chain that finds no room in its order, as a retry of its dead letters sends it', async () => {
    const { settled, buried, told } = await settleWithRoomFor(0);
    assert.equal(settled, 'lane_full');
    assert.deepEqual(buried, ['a..0.lane_full', 'b..0.lane_full', 'c..0.lane_full']);
    assert.deepEqual(told, ['a waiting', 'a given_up', 'b given_up', 'c given_up']);
  });

  test('parks more of a chain where its first part waits', async () => {
    const parked: string[] = [];
    const { settle, follow } = openSettlement({
      parker: {
        park: async (_, tier, { id, isMore }, behind = []) => (
          parked.push(`${tier} ${id} ${isMore}`), 1 + behind.length
        ),
      },
      deadLetters: { append: async () => assert.fail('there is room') },
      schedule: retrySchedule(1),
      hold: () => undefined,
      record: async () => undefined,
      now: () => NOW,
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    const webhook = aWebhook({ order: 'user' });
    const [failed, untried] = [aDelivery({ id: 'a', attempts: 3, firstAttemptAt: NOW }), aDelivery({ id: 'b' })];
    await settle(failed, webhook, { startedAt: NOW, answers: answersOf(status(503)) });
    assert.equal(await follow(aDelivery({ id: 'c' }), webhook, failed, []), 'untried');
    await settle(untried, webhook, undefined);
    await follow(aDelivery({ id: 'd' }), webhook, untried, []);
    assert.deepEqual(parked, ['4 a undefined', '4 c true', '0 b undefined', '0 d true']);
  });

  test('buries only those of a chain that found no room: the others are in the lane', async () => {
    const { settled, buried, told } = await settleWithRoomFor(2);
    assert.equal(settled, 'untried');
    assert.deepEqual(buried, ['c..0.lane_full']);
    assert.deepEqual(told, ['a waiting', 'c given_up']);
  });

  /** Settles one delivery with this answer, where dead letters find no room. */
  function settleOne(code: number, record: SettlementNeeds['record']) {
    const { settle } = openSettlement({
      parker: { park: async () => assert.fail('it was parked') },
      deadLetters: { append: async () => 'full' },
      schedule: retrySchedule(1),
      hold: () => undefined,
      record,
      now: () => NOW,
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    return settle(aDelivery({ id: 'a' }), aWebhook(), { startedAt: NOW, answers: answersOf(status(code)) });
  }

  test('is over when the outcome is stored, not before', async () => {
    const stored = Promise.withResolvers<void>();
    let isOver = false;
    const settled = settleOne(200, () => stored.promise).finally(() => (isOver = true));
    await nextTurn();
    assert.equal(isOver, false);
    stored.resolve();
    assert.equal(await settled, 'delivered');
  });

  test('tells the record that a dead letter found no room', async () => {
    const letters: unknown[] = [];
    const record = async (entry: OutcomeEntry) => void letters.push('letter' in entry && entry.letter);
    assert.equal(await settleOne(400, record), 'discarded');
    assert.deepEqual(letters, ['refused']);
  });
});
