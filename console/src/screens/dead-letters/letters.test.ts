import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '@millrace/contract/control';
import {
  classWords,
  errorClassesOf,
  filterOf,
  headCount,
  headline,
  isFiltered,
  type Letter,
  withDeliveries,
} from './letters.ts';

const NOW = Date.parse('2026-11-16T12:00:30Z');
const letter = (deliveryId: string): Letter => ({
  id: `dl_${deliveryId}`,
  destinationId: 'dst_1',
  deliveryId,
  reason: 'discarded',
  deadAt: '2026-11-16T11:00:00Z',
  messageId: 'm',
  type: 'track',
  attempts: 1,
});

test('the URL becomes the filter that the API and a redrive take; an unknown reason is left out', () => {
  assert.deepEqual(filterOf({ destinationId: 'dst_1', reason: 'expired', range: '1h', errorClass: 'dns' }, NOW), {
    destinationId: 'dst_1',
    reason: 'expired',
    from: '2026-11-16T11:00:00.000Z',
  });
  assert.deepEqual(filterOf({ reason: 'nonsense' }, NOW), {});
  assert.equal(isFiltered({ tab: 'redrives' }), false);
  assert.equal(isFiltered({ errorClass: 'dns' }), true);
});

test('letters take their words from the record, and their classes are counted', () => {
  const deliveries = [
    { id: 'a', errorClass: 'http_401' },
    { id: 'b', errorClass: 'http_401' },
    { id: 'c', errorClass: 'tls_self_signed' },
  ] as Delivery[];
  const letters = withDeliveries([letter('a'), letter('b'), letter('c'), letter('d')], deliveries);
  assert.equal(letters[3]?.delivery, undefined);
  assert.deepEqual(errorClassesOf(letters), [
    { errorClass: 'http_401', count: 2 },
    { errorClass: 'tls_self_signed', count: 1 },
  ]);
  assert.equal(classWords('http_401'), 'Answered 401');
  assert.equal(classWords('tls_self_signed'), 'tls self signed');
});

test('the headline counts', () => {
  assert.equal(headline(0), 'Nothing is given up.');
  assert.equal(headCount(1_204), '1,204 dead letters');
  assert.equal(headCount(0), undefined);
  assert.match(headline(1), /^waits/);
});
