import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ourServers, storesOf } from './assert-servers.ts';

const report = (name: string, cluster: string | undefined, max_storage = 1_000) => ({
  server: { name, ver: '2.15.0', ...(cluster === undefined ? {} : { cluster }) },
  data: { config: { max_storage, sync_always: true } },
});
const bare = (name: string, cluster: string) => ({ server: { name, ver: '2.15.0', cluster }, data: {} });
type Connected = Parameters<typeof ourServers>[1];
const connectedTo = (cluster: string | undefined): Connected => ({ info: { cluster } as Connected['info'] & object });

suite('the servers that hold our streams', () => {
  const reports = [report('n1', 'east'), report('n2', 'east'), report('w1', 'west', 5), bare('n3', 'east')];
  const namesIn = (cluster: string | undefined) =>
    ourServers(reports, connectedTo(cluster)).map(({ server }) => server.name);

  test('are those of our cluster with JetStream', () => {
    assert.deepEqual(namesIn('east'), ['n1', 'n2']);
    assert.deepEqual(storesOf(reports, connectedTo('west')), [{ name: 'w1', bytes: 5 }]);
  });

  test('are all with JetStream when we are connected to one server, or through a leaf node', () => {
    assert.deepEqual(namesIn(undefined), ['n1', 'n2', 'w1']);
    assert.deepEqual(namesIn('leaf'), ['n1', 'n2', 'w1']);
  });
});
