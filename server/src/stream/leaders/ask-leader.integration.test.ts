import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { until } from '../../../testing/until.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { askLeader, isLed, type StreamAnswer } from './ask-leader.ts';

const log = openLog({ level: 'silent', pretty: false });
const STREAM = 'EVENTS-0';

test('a leader that has lost its followers is not believed while it still says that it leads', async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using anywhere = await connectNats({ url: cluster.url, name: 'tests', log });
  const manager = await jetstreamManager(anywhere.nc);
  const made = await manager.streams.add({ name: STREAM, subjects: ['events.0.*'], num_replicas: 3 });
  const leader = cluster.nodes.find(({ name }) => name === made.cluster?.leader);
  assert.ok(leader !== undefined);
  await using connection = await connectNats({ url: leader.url, name: 'tests-leader', log });
  await until(async () => (await askLeader(connection.nc, STREAM, 1_000)) !== undefined);

  const followers = cluster.nodes.filter((node) => node !== leader);
  for (const follower of followers) await follower.kill('SIGSTOP');
  const ask = async () => {
    const message = await connection.nc.request(`$JS.API.STREAM.INFO.${STREAM}`, '', { timeout: 10_000 });
    return message.json<StreamAnswer>();
  };
  let answer = await ask();
  await until(async () => {
    answer = await ask();
    return !isLed(answer);
  });
  assert.equal(answer.cluster?.leader, leader.name);
  assert.equal(await askLeader(connection.nc, STREAM, 1_000), undefined);

  for (const follower of followers) await follower.kill('SIGCONT');
  await until(async () => (await askLeader(connection.nc, STREAM, 1_000)) !== undefined);
});
