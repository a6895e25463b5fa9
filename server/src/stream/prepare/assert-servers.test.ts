import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assertServers, ourServers, storesOf } from './assert-servers.ts';

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

/** Each question gets the next of the answers: reports, or an error. */
const connection = (...answers: (object[] | Error)[]) => {
  const requestMany = () => {
    const answer = answers.shift() ?? [];
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(answer.map((each) => ({ data: [1], json: () => each })));
  };
  return { info: { max_payload: 1_000_000 }, requestMany } as unknown as Parameters<typeof assertServers>[0];
};
const refused = new Error('no responders');

suite('the only server', () => {
  const asking = { replicas: 1, isThere: false };

  test('is asked again when it is too busy to answer', async () => {
    const { stores } = await assertServers(connection([], [], [report('n1', undefined)]), asking);
    assert.deepEqual(stores, [{ name: 'n1', bytes: 1_000 }]);
  });

  test('is not asked again when it does not allow the question', async () => {
    await assert.rejects(
      assertServers(connection(refused, [report('n1', undefined)]), asking),
      /do not say how they store/,
    );
  });
});

test('several servers that refuse the question are asked again, and not as fast as they refuse', async () => {
  const reports = ['n1', 'n2', 'n3'].map((name) => report(name, undefined));
  const startedAt = performance.now();
  await assertServers(connection(refused, refused, reports), { replicas: 3, isThere: false });
  assert.ok(performance.now() - startedAt > 400);
});
