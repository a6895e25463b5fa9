import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';
import { openStream } from '../open-stream.ts';

const log = openLog({ level: 'silent', pretty: false });

test('streams of a cluster are shown with their leaders, and with the replicas that are behind', async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using stream = await openStream({ natsUrl: cluster.url, settings: { ...STREAM_SETTINGS, replicas: 3 }, log });
  await using side = await stream.controlSide();
  const isWhole = async () => {
    const all = await side.describeStreams();
    return all.every(
      ({ leader, replicas, laggingReplicas }) => leader !== null && replicas === 3 && laggingReplicas === 0,
    );
  };
  await until(isWhole);
  assert.ok((await side.describeStreams()).length > 8);
  await cluster.nodes[2]?.kill('SIGKILL');
  await until(async () =>
    (await side.describeStreams().catch(() => [])).some(({ laggingReplicas }) => laggingReplicas === 1),
  );
});
