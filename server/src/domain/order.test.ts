import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { aDelivery, EVENT } from '../../testing/samples.ts';
import { deliveryOfLetter } from './dead-letter.ts';
import { encodeDeliveries } from './delivery.ts';
import { chainOf, eventOrder, orderOf, requestOrder } from './order.ts';
import { readableDeliveries } from './read-deliveries.ts';

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
