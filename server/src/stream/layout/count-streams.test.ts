import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { wantedEventStreams } from './count-streams.ts';

const OLD = [
  ['n1', 'n2', 'n3'],
  ['n1', 'n2', 'n3'],
];
const servers = (...sizes: number[]) => sizes.map((bytes, index) => ({ name: `n${index + 1}`, bytes }));
const wanted = (stores: number[], placed = OLD, least = 2) =>
  wantedEventStreams({ stores: servers(...stores), replicas: 3, least, placed });

suite('the number of event streams', () => {
  test('is that of the settings while there are as many servers as replicas', () => {
    assert.equal(wanted([100, 100, 100]), 2);
    assert.equal(wanted([100, 100, 100], [], 7), 7);
  });

  test('grows when servers come, until their room is used', () => {
    assert.equal(wanted([100, 100, 100, 100]), 5);
    assert.equal(wanted([100, 100, 100, 100, 100, 100]), 4);
  });

  test('stays when what is there uses the room', () => {
    const grown = [...OLD, ['n4', 'n1', 'n2'], ['n4', 'n1', 'n3'], ['n4', 'n2', 'n3']];
    assert.equal(wanted([100, 100, 100, 100], grown), 5);
  });

  test('does not grow for a server that is too small to hold a stream', () => {
    assert.equal(wanted([100, 100, 100, 5]), 2);
  });

  test('stays within what the accounts of NATS are made for', () => {
    const most = wanted(Array.from({ length: 40 }, () => 100));
    assert.ok(most <= 16, `${most}`);
    assert.equal(wanted([100, 100, 100, 100], OLD, 20), 20);
  });

  test('grows again for the next server', () => {
    const grown = [...OLD, ['n4', 'n1', 'n2'], ['n4', 'n1', 'n3'], ['n4', 'n2', 'n3']];
    assert.ok(wanted([100, 100, 100, 100, 100], grown) > 5);
  });
});
