import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { aDelivery, EVENT } from '../../testing/samples.ts';
import { deliveryOfLetter } from './dead-letter.ts';
import {
  boundTimes,
  chainOf,
  type Delivery,
  deliveryId,
  encodeDeliveries,
  eventOrder,
  giveUpAt,
  orderOf,
  requestOrder,
} from './delivery.ts';
import { readableDeliveries } from './read-deliveries.ts';

const PARKED_AT = 1_000_000;
const LONGEST_MS = 5_500;
const DAY_MS = 86_400_000;

function bounded(times: Partial<Delivery>): Delivery {
  const delivery = { id: 'dlv_1', takenAt: 0, attempts: 1, dueAt: 0, history: [], ...times } as unknown as Delivery;
  return boundTimes(delivery, PARKED_AT, LONGEST_MS);
}

test('the id of a delivery is the same for the same event, and another one for any other destination, source or message', () => {
  const id = deliveryId('dst_1', 'src_1', 'm1');
  assert.equal(deliveryId('dst_1', 'src_1', 'm1'), id);
  const others = [
    deliveryId('dst_2', 'src_1', 'm1'),
    deliveryId('dst_1', 'src_2', 'm1'),
    deliveryId('dst_1', 'src_1', 'm2'),
  ];
  assert.equal(new Set([id, ...others]).size, 4);
});

suite('the times of a delivery that was parked', () => {
  test('stay as they are when they can be true', () => {
    const times = { takenAt: PARKED_AT - 3_000, firstAttemptAt: PARKED_AT - 2_000, dueAt: PARKED_AT + LONGEST_MS };
    assert.deepEqual(bounded(times), { id: 'dlv_1', attempts: 1, history: [], ...times });
  });

  test('are not later than its tier’s delay after it was parked', () => {
    assert.equal(bounded({ dueAt: PARKED_AT + DAY_MS }).dueAt, PARKED_AT + LONGEST_MS);
  });

  test('give it its window from when it was parked at the latest', () => {
    for (const times of [{ takenAt: PARKED_AT + DAY_MS }, { takenAt: 0, firstAttemptAt: PARKED_AT + DAY_MS }]) {
      assert.ok(giveUpAt(bounded(times), 1_000) <= PARKED_AT + 1_000);
    }
    assert.equal(bounded({ takenAt: PARKED_AT + DAY_MS }).firstAttemptAt, undefined);
  });
});

const AT = '2026-11-15T00:08:50.000Z';
const ORDER = '1794701330000-00-000000000004711-0003';

suite('the order of an event', () => {
  test('is when its request was received, where it is stored, and its place in it', () => {
    assert.equal(eventOrder(requestOrder(AT, { stream: 0, sequence: 4_711 }), 3), ORDER);
  });

  test('sorts bytewise as numbers do, up to the last stream, sequence and call that can be', () => {
    const orders = [
      eventOrder(requestOrder('2001-01-01T00:00:00.000Z', { stream: 63, sequence: 9 }), 2_499),
      eventOrder(requestOrder(AT, { stream: 1, sequence: 9 }), 9),
      eventOrder(requestOrder(AT, { stream: 1, sequence: 9 }), 10),
      eventOrder(requestOrder(AT, { stream: 1, sequence: 9 }), 2_499),
      eventOrder(requestOrder(AT, { stream: 1, sequence: 10 }), 0),
      eventOrder(requestOrder(AT, { stream: 1, sequence: 999_999_999_999 }), 0),
      eventOrder(requestOrder(AT, { stream: 10, sequence: 1 }), 0),
      eventOrder(requestOrder('2026-11-15T00:08:50.001Z', { stream: 0, sequence: 1 }), 0),
      eventOrder(requestOrder('2200-01-01T00:00:00.000Z', { stream: 0, sequence: 1 }), 0),
    ];
    assert.deepEqual(orders.toSorted(), orders);
    assert.deepEqual(new Set(orders.map((order) => order.length)), new Set([37]));
  });

  test('stays with a delivery in its lane, and with a dead letter that is tried again', () => {
    const [waited] = readableDeliveries(encodeDeliveries([JSON.stringify(aDelivery({ order: ORDER }))]), '1');
    assert.ok(waited !== undefined);
    assert.equal(orderOf(waited), ORDER);
    const letter = {
      reason: 'expired',
      at: 0,
      destinationId: 'dst_1',
      delivery: { ...waited, sourceId: 'src_9' },
    } as const;
    const again = deliveryOfLetter(letter, { replayId: 'rpl_1', now: 1 });
    assert.equal(orderOf(again), ORDER);
    assert.equal(again.sourceId, 'src_9', 'a computed call stays one of its source');
  });

  test('of a delivery that an older version stored is the time alone, before all others of that millisecond', () => {
    const old = orderOf(aDelivery());
    assert.equal(old, '1794701330000');
    assert.ok(old < eventOrder(requestOrder(AT, { stream: 0, sequence: 1 }), 0));
    assert.ok(old > eventOrder(requestOrder('2026-11-15T00:08:49.999Z', { stream: 63, sequence: 9 }), 0));
  });
});

suite('a chain', () => {
  const at = (order: string, change: object = {}) => chainOf(aDelivery({ order, event: { ...EVENT, ...change } }));

  test('has the events of one user in one request', () => {
    const ofFirst = requestOrder(AT, { stream: 0, sequence: 1 });
    const ofSecond = requestOrder(AT, { stream: 0, sequence: 2 });
    assert.equal(at(eventOrder(ofFirst, 0)), at(eventOrder(ofFirst, 17)));
    assert.notEqual(at(eventOrder(ofFirst, 0)), at(eventOrder(ofSecond, 0)));
    assert.notEqual(at(eventOrder(ofFirst, 0)), at(eventOrder(ofFirst, 0), { userId: 'u2' }));
  });

  test('is of the device only where there is no user, and a device is no user', () => {
    const byDevice = { ...EVENT, anonymousId: 'u1' };
    delete byDevice.userId;
    assert.notEqual(chainOf(aDelivery({ order: ORDER, event: byDevice })), at(ORDER));
    assert.equal(at(ORDER, { anonymousId: 'd1' }), at(ORDER, { anonymousId: 'd2' }));
  });

  test('needs an order, and a deletion is in none', () => {
    assert.equal(chainOf(aDelivery()), undefined);
    const event = { type: 'delete', messageId: 'm', userId: 'u1', receivedAt: AT, timestamp: AT } as const;
    assert.equal(chainOf(aDelivery({ order: ORDER, event })), undefined);
  });
});
