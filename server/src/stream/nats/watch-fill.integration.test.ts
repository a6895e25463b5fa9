import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { openMetrics } from '../../metrics/open-metrics.ts';
import { connectNats } from './connect-nats.ts';
import { openStream } from '../open-stream.ts';
import { kindOf, watchFill } from './watch-fill.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const settings = { ...STREAM_SETTINGS, eventStreams: 2, laneStreams: 2 };

suite('how full the engine is', () => {
  test('is shown for each kind of stream and each bucket, with the fullest of a kind', async () => {
    await using cluster = await startNatsCluster({ maxFileStoreMb: 50 });
    await using stream = await openStream({ natsUrl: cluster.url, settings, log });
    const metrics = openMetrics();
    await using connection = await connectNats({ url: cluster.url, name: 'fill', log });
    const body = Buffer.alloc(400_000, 'x');
    await stream.append({ sourceId: 'src_1', id: 'r', home: 1, envelope: '{}', body });
    using fill = watchFill({ connection, retentionMs: 3_600_000, metrics, log });
    await fill.refresh();
    const text = await metrics.text();
    const ratioOf = (kind: string) =>
      Number(new RegExp(`millrace_stream_fill_ratio{stream="${kind}"} (\\S+)`).exec(text)?.[1]);
    assert.ok(ratioOf('events') > 0.02 && ratioOf('events') < 0.1, `${ratioOf('events')}`);
    for (const kind of ['lanes', 'dead', 'outcomes', 'quarantine', 'config', 'health']) {
      assert.ok(ratioOf(kind) >= 0 && ratioOf(kind) < 0.01, kind);
    }
    assert.ok(Number.isNaN(ratioOf('tickets')), 'tickets have no limit');
    assert.match(text, /millrace_stream_bytes_max{stream="tickets"} 0/);
    assert.match(text, /millrace_events_kept_seconds{by="setting"} 3600/);
    assert.match(text, /millrace_stream_limit_bytes{stream="dead"} 2/);
  });

  test('names nothing that is not ours', () => {
    assert.deepEqual(['EVENTS-12', 'KV_config', 'DEAD'].map(kindOf), ['events', 'config', 'dead']);
    assert.deepEqual(['ORDERS', 'KV_customers', 'EVENTS-x'].map(kindOf), [undefined, undefined, undefined]);
  });
});
