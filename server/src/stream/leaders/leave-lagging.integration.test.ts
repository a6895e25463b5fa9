import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { pino } from 'pino';
import { until } from '../../../testing/until.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { DELIVER_CONSUMER } from '../layout/layout.ts';
import { handOver } from './hand-over.ts';
import { leaveLagging } from './leave-lagging.ts';

const STREAM = 'EVENTS-0';

/** A copy lags for a minute only after rare accidents of elections: here the answer about the streams says that it does. */
test('a consumer whose leader has a lagging copy is handed to the leader of the stream', {
  timeout: 180_000,
}, async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await using connection = await connectNats({ url: cluster.url, name: 'tests', log });
  const manager = await jetstreamManager(connection.nc);
  await manager.streams.add({ name: STREAM, subjects: ['events.0.*'], num_replicas: 3 });
  await manager.consumers.add(STREAM, { durable_name: DELIVER_CONSUMER, ack_policy: 'explicit' });
  // While it elects, NATS does not answer.
  const consumerLeader = async () => {
    const info = await manager.consumers.info(STREAM, DELIVER_CONSUMER).catch(() => undefined);
    return info?.cluster?.leader;
  };
  const { cluster: led } = await manager.streams.info(STREAM);
  const leader = led?.leader;
  const away = cluster.nodes.find(({ name }) => name !== leader)?.name ?? '';
  let lagging = '';
  const streams = Object.assign(Object.create(manager.streams), {
    list: () => laggingOn(manager.streams.list(), lagging),
  });
  using watch = leaveLagging({
    connection,
    manager: { streams, consumers: manager.consumers },
    isMyTurn: () => false,
    log,
  });

  await until(async () => {
    const now = await consumerLeader();
    const led = { stream: STREAM, consumer: DELIVER_CONSUMER };
    if (now !== undefined && now !== away) await handOver(connection.nc, led, away).catch(() => undefined);
    return now === away;
  });
  await watch.look();
  await watch.look();
  await until(async () => (await consumerLeader()) === away);

  lagging = away;
  await watch.look();
  // A copy may lag for a moment.
  await until(async () => (await consumerLeader()) === away);
  await watch.look();
  await until(async () => (await consumerLeader()) === leader);
  assert.ok(lines.some((line) => line.includes('"msg":"consumer.moved"')));
});

async function* laggingOn(infos: AsyncIterable<StreamInfo>, server: string): AsyncGenerator<StreamInfo> {
  for await (const info of infos) {
    const { cluster } = info;
    const replicas = cluster?.replicas?.map((each) => ({ ...each, current: each.name !== server })) ?? [];
    yield { ...info, ...(cluster !== undefined && { cluster: { ...cluster, replicas } }) };
  }
}
