import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Destination, Source } from '@millrace/contract/control';
import { atLeast, chosenSources, countDeliveries, destinationsTold, toldWords } from './touched.ts';
import { userHash } from './user-hash.ts';

const destination = (id: string, sourceId: string, enabled: boolean) => ({ id, sourceId, enabled }) as Destination;

test('an enabled destination of the sources is told, a disabled one is not', () => {
  const all = [destination('a', 's1', true), destination('b', 's1', false), destination('c', 's2', true)];
  const { told, notTold } = destinationsTold(all, ['s1'], []);
  assert.deepEqual([told.map(({ id }) => id), notTold.map(({ id }) => id)], [['a'], ['b']]);
});

test('a destination of an audience is told, whatever its source is', () => {
  const all = [destination('a', 's1', true), destination('b', 's2', true), destination('c', 's2', true)];
  const { told } = destinationsTold(all, ['s1'], [{ destinations: ['c', 'a'] }]);
  assert.deepEqual(
    told.map(({ id }) => id),
    ['a', 'c'],
  );
});

test('the destinations that were not read are not passed over', () => {
  const destinations = [destination('a', 's1', true), destination('b', 's1', false)];
  assert.equal(toldWords('CRM', { destinations, hasMoreDestinations: false }), 'CRM');
  assert.equal(
    toldWords('', { destinations, hasMoreDestinations: true }),
    'no destination (of the first 2 destinations)',
  );
});

test('deliveries are counted with those that wait and those that were given up', () => {
  const counted = countDeliveries([{ state: 'pending' }, { state: 'expired' }, { state: 'delivered' }], false);
  assert.deepEqual(counted, { count: 3, waiting: 1, givenUp: 1, isExact: false });
  assert.equal(atLeast(counted, 'delivery', 'deliveries'), 'at least 3 deliveries');
});

test('no choice means every source', () => {
  const sources = [{ id: 's1' }, { id: 's2' }] as Source[];
  assert.deepEqual(chosenSources(sources, ''), ['s1', 's2']);
  assert.deepEqual(chosenSources(sources, 's2'), ['s2']);
});

test('the hash of a user is that of the server', async () => {
  const hash = await userHash('ws_1', 'u_48213');
  assert.equal(hash, '200a921dcdb69ca5eafe3c82587cb4b32da7bc474c20ff00369fd7452d32e0c0');
});
