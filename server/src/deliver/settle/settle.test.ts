import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import { aDelivery, aWebhook } from '../../../testing/samples.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { openSettlement } from './settle.ts';

suite('settling', () => {
  test('buries a chain that finds no room in its order, as a retry of its dead letters sends it', async () => {
    const buried: string[] = [];
    const told: string[] = [];
    const { settle } = openSettlement({
      parker: { park: async () => 'full' },
      deadLetters: { append: async (_, letterId) => (buried.push(letterId), 'stored') },
      schedule: retrySchedule(1),
      hold: () => undefined,
      record: async ({ deliveryId, kind }) => void told.push(`${deliveryId} ${kind}`),
      now: () => 0,
      random: () => 0,
      log: openLog({ level: 'silent', pretty: false }),
    });
    const [first, ...behind] = ['a', 'b', 'c'].map((id) => aDelivery({ id }));
    assert.equal(await settle(first ?? assert.fail(), aWebhook({ order: 'user' }), undefined, behind), 'lane_full');
    assert.deepEqual(buried, ['a..0.lane_full', 'b..0.lane_full', 'c..0.lane_full']);
    assert.deepEqual(told, ['a waiting', 'a given_up', 'b given_up', 'c given_up']);
  });
});
