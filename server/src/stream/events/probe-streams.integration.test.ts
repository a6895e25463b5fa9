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
});
