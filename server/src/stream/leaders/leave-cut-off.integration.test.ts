import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { pino } from 'pino';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';
import { openStream } from '../open-stream.ts';

test('every connection leaves a server that answers pings and reaches no leader', { timeout: 180_000 }, async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const [alone, ...others] = cluster.nodes;
  const natsUrl = alone?.url ?? '';
  await using stream = await openStream({ natsUrl, settings: { ...STREAM_SETTINGS, replicas: 3 }, log });
  await using _ = await stream.deliverySide();
  const left = (connection: string) =>
    lines.some((line) => line.includes('nats.left') && line.includes(`"connection":"${connection}"`));
  for (const server of others) await server.kill('SIGSTOP');
  await until(() => ['millrace-publish', 'millrace-watch', 'millrace-pull', 'millrace-park'].every(left));
  for (const server of others) await server.kill('SIGCONT');
  await until(() => stream.isConnected());
  assert.ok(stream.isConnected());
});
