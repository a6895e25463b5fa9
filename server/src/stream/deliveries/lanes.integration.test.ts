import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openBed } from '../../../testing/deliver-bed.ts';
import { until } from '../../../testing/until.ts';
import { openLog } from '../../log.ts';
import { laneStreamName } from '../layout/layout.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { type LanesNeeds, openLanes } from './lanes.ts';

test('the groups of a lane are dropped up to a sequence, and the one behind it stays', async () => {
  await using bed = await openBed();
  await using side = await bed.stream.deliverySide();
  const place = { destinationId: 'dst_1', tier: 0 };
  for (const text of ['one', 'two', 'three']) assert.equal(await side.lanes.append(place, Buffer.from(text)), 'stored');
  const [, second] = await side.lanes.read(place, 1, 3);
  await side.lanes.drop(place, second?.sequence ?? assert.fail('all three are there'));
  const left = await side.lanes.read(place, 1, 3);
  assert.deepEqual(
    left.map(({ payload }) => Buffer.from(payload).toString()),
    ['three'],
  );
});

test('a leader that has lost its followers is not believed that a lane is empty', async () => {
  const log = openLog({ level: 'silent', pretty: false });
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using anywhere = await connectNats({ url: cluster.url, name: 'tests', log });
  const { streams } = await jetstreamManager(anywhere.nc);
  const made = await streams.add({ name: laneStreamName(0), subjects: ['lanes.0.>'], num_replicas: 3 });
  const leader = cluster.nodes.find(({ name }) => name === made.cluster?.leader);
  assert.ok(leader !== undefined);
  await using connection = await connectNats({ url: leader.url, name: 'tests-leader', log });
  const manager = await jetstreamManager(connection.nc, { checkAPI: false, timeout: 10_000 });
  const lanes = openLanes({ manager, count: 1 } as LanesNeeds);
  const count = () => lanes.count('dst_1').then(({ size }) => size, String);
  await until(async () => (await count()) === 0);
  const followers = cluster.nodes.filter((node) => node !== leader);
  for (const follower of followers) await follower.kill('SIGSTOP');
  await until(async () => (await count()) === 'Error: the leader of LANES-0 has no majority');
  for (const follower of followers) await follower.kill('SIGCONT');
  await until(async () => (await count()) === 0);
});
