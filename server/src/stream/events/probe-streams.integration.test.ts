import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { openMetrics } from '../../metrics/open-metrics.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openPublisher } from '../nats/publish.ts';
import { openEventStreams } from './event-streams.ts';
import { probeStreams } from './probe-streams.ts';
import { until } from '../../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('a stream in trouble', () => {
  test('is probed when it comes into use again, however long it was out of use', async () => {
    await using cluster = await startNatsCluster();
    await using connection = await connectNats({ url: cluster.url, name: 'probe', log });
    const manager = await jetstreamManager(connection.nc);
    await manager.streams.add({ name: 'EVENTS-0', subjects: ['events.0.*'] });
    using publisher = openPublisher(connection);
    const use = { streams: 2, asked: 0 };
    const count = () => {
      use.asked += 1;
      return use.streams;
    };
    using events = openEventStreams({ connection, publisher, count, metrics: openMetrics(), log });
    using _ = probeStreams({ connection, events, log });

    const [, missing] = events.streams;
    assert.ok(missing !== undefined);
    await events.publish(missing, { subject: 'events.1.src_1', payload: Buffer.from('{}') });
    assert.equal(missing.trouble, 'no_leader');
    use.streams = 1;
    // Several probes find no stream in use that is in trouble, and do not end the probing.
    use.asked = 0;
    await until(() => use.asked >= 6);
    await manager.streams.add({ name: 'EVENTS-1', subjects: ['events.1.*'] });
    use.streams = 2;
    await until(() => missing.trouble === undefined);
    assert.equal(events.isTroubled(), false);
  });

  test('makes collect leave a server that still leads it and has lost the others', { timeout: 180_000 }, async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using anywhere = await connectNats({ url: cluster.url, name: 'tests', log });
    const manager = await jetstreamManager(anywhere.nc);
    const made = await manager.streams.add({ name: 'EVENTS-0', subjects: ['events.0.*'], num_replicas: 3 });
    const leader = cluster.nodes.find(({ name }) => name === made.cluster?.leader);
    assert.ok(leader !== undefined);
    let hasLeft = false;
    await using connection = await connectNats({ url: leader.url, name: 'probe', log });
    await using beside = await connectNats({ url: leader.url, name: 'beside', log });
    const leaveServer = () => void (hasLeft = true);
    using publisher = openPublisher(connection);
    using events = openEventStreams({ connection, publisher, count: () => 1, metrics: openMetrics(), log });
    using _ = probeStreams({ connection: { ...connection, leaveServer }, events, log });

    for (const node of cluster.nodes) if (node !== leader) await node.kill('SIGSTOP');
    const [stream] = events.streams;
    assert.ok(stream !== undefined);
    let leaderSays: unknown;
    await until(async () => {
      const publication = { subject: 'events.0.src_1', payload: Buffer.from('{}') };
      if (stream.trouble === undefined) void events.publish(stream, publication);
      const info = await beside.nc.request('$JS.API.STREAM.INFO.EVENTS-0', '', { timeout: 10_000 });
      leaderSays = info.json<{ cluster?: { leader?: string } }>().cluster?.leader;
      return hasLeft;
    });
    assert.equal(leaderSays, leader.name, 'collect did not wait until the server noticed');
  });
});
