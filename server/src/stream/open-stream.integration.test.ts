import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import {
  type ConsumerConfig,
  type JetStreamManager,
  jetstreamManager,
  PersistMode,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openLog } from '../log.ts';
import { openStream } from './open-stream.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const SETTINGS = { ...STREAM_SETTINGS, eventStreams: 2, laneStreams: 2 };

suite('opening the stream', () => {
  test('makes everything in the layout, and opening again changes nothing', async () => {
    await using cluster = await startNatsCluster();
    for (let round = 0; round < 2; round += 1) {
      await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
      assert.equal(stream.isAvailable(), true);
    }
    const names = (await streamsOf(cluster.url)).map((config) => config.name).sort();
    assert.deepEqual(names, [
      'AUDIT',
      'DEAD',
      'EVENTS-0',
      'EVENTS-1',
      'KV_config',
      'KV_floors',
      'KV_health',
      'KV_layout',
      'KV_worked',
      'LANES-0',
      'LANES-1',
      'OUTCOMES',
      'QUARANTINE',
      'TICKETS',
    ]);
  });

  test('brings an existing stream to new settings', async () => {
    await using cluster = await startNatsCluster();
    await using before = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    assert.ok(before);
    const settings = { ...SETTINGS, retentionMs: 7_200_000, dedupWindowMs: 120_000 };
    await using after = await openStream({ natsUrl: cluster.url, settings, log });
    assert.ok(after);
    const events = (await streamsOf(cluster.url)).find((config) => config.name === 'EVENTS-0');
    assert.equal(events?.duplicate_window, 120_000 * 1_000_000);
  });

  test('refuses a server that does not sync every write', async () => {
    await using cluster = await startNatsCluster({ sync: 'default' });
    await assert.rejects(openStream({ natsUrl: cluster.url, settings: SETTINGS, log }), /sync_interval: always/);
  });

  test('refuses more replicas than there are servers', async () => {
    await using cluster = await startNatsCluster();
    const settings = { ...SETTINGS, replicas: 3 as const };
    await assert.rejects(openStream({ natsUrl: cluster.url, settings, log }), /only 1 NATS servers/);
  });

  test('refuses a stream that keeps its messages in memory', async () => {
    await using cluster = await startNatsCluster();
    await addStream(cluster.url, { storage: StorageType.Memory });
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /EVENTS-0 keeps its messages in memory/,
    );
  });

  test('refuses a stream that acknowledges before it writes', async () => {
    await using cluster = await startNatsCluster();
    await addStream(cluster.url, { persist_mode: PersistMode.Async });
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /acknowledges before it writes/,
    );
  });

  test('starts while one of three servers is down, and changes no size then', async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    const settings = { ...SETTINGS, replicas: 3 as const };
    {
      await using stream = await openStream({ natsUrl: cluster.url, settings, log });
      assert.ok(stream.isAvailable());
    }
    await changeStream(cluster.url, 'LANES-0', { max_bytes: 1_000_000 });
    await changeStream(cluster.url, 'KV_config', { max_bytes: 1_000_000 });
    await changeStream(cluster.url, 'EVENTS-0', { max_age: 7_200_000 * 1_000_000, max_bytes: 1_000_000 });
    await cluster.nodes[2]?.kill('SIGKILL');
    await using stream = await openStream({ natsUrl: cluster.url, settings, log });
    assert.ok(stream.isAvailable());
    const configs = new Map((await streamsOf(cluster.url)).map((config) => [config.name, config]));
    for (const name of ['LANES-0', 'KV_config', 'EVENTS-0'])
      assert.equal(configs.get(name)?.max_bytes, 1_000_000, name);
    assert.equal(configs.get('EVENTS-0')?.max_age, 0, 'what the guarantees stand on is no size');
  });

  test('refuses to take replicas away because a setting was forgotten', async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, replicas: 3 }, log });
    assert.ok(stream.isAvailable());
    await assert.rejects(
      openStream({ natsUrl: cluster.url, settings: SETTINGS, log }),
      /has 3 replicas: set MILLRACE_REPLICAS/,
    );
    assert.ok((await streamsOf(cluster.url)).every((config) => config.num_replicas === 3));
  });

  test('gives up surplus event streams that are empty, and keeps one that is not until it is', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...SETTINGS, eventStreams: 4 }, log });
    const envelope = '{"shape":"track","receivedAt":"2026-11-15T00:00:00.000Z","requestId":"r"}';
    const body = Buffer.from('{"userId":"u","event":"E"}');
    await stream.append({ sourceId: 'src_1', id: 'r', home: 2, envelope, body });
    await using fewer = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    const side = await fewer.deliverySide();
    const taken = Promise.withResolvers<string>();
    const pulling = side.pullRequests({
      room: () => 1,
      taken(request) {
        request.ack();
        taken.resolve(request.place);
      },
    });
    assert.equal(await taken.promise, 'EVENTS-2/1', 'it is still read');
    await pulling[Symbol.asyncDispose]();
    await side[Symbol.asyncDispose]();
    const names = async () =>
      (await streamsOf(cluster.url)).map(({ name }) => name).filter((name) => /EVENTS/.test(name));
    assert.deepEqual((await names()).sort(), ['EVENTS-0', 'EVENTS-1', 'EVENTS-2']);
    await purge(cluster.url, 'EVENTS-2');
    await using later = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    assert.ok(later.isAvailable());
    assert.deepEqual((await names()).sort(), ['EVENTS-0', 'EVENTS-1']);
  });

  test('brings a layout of an earlier version to its plan: sizes, consumers, buckets, and no age limit on events', async () => {
    await using cluster = await startNatsCluster();
    await using before = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    assert.ok(before.isAvailable());
    await changeStream(cluster.url, 'EVENTS-0', { max_age: 7_200_000 * 1_000_000 });
    await changeStream(cluster.url, 'TICKETS', { max_bytes: 1_000_000 });
    await changeStream(cluster.url, 'KV_config', { max_bytes: 1_000_000 });
    await changeStream(cluster.url, 'DEAD', { max_bytes: 1_000_000 });
    await changeConsumer(cluster.url, { max_ack_pending: 100 });
    await using after = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    assert.ok(after.isAvailable());
    const configs = new Map((await streamsOf(cluster.url)).map((config) => [config.name, config]));
    assert.equal(configs.get('EVENTS-0')?.max_age, 0);
    assert.equal(configs.get('TICKETS')?.max_bytes, -1);
    assert.ok((configs.get('KV_config')?.max_bytes ?? 0) >= 200_000_000, 'two kilobytes for 100,000 destinations');
    assert.ok((configs.get('DEAD')?.max_bytes ?? 0) > 1_000_000);
    assert.equal((await changeConsumer(cluster.url, {})).max_ack_pending, 16_384);
  });

  test('never drops a ticket to make room for another', async () => {
    await using cluster = await startNatsCluster({ maxFileStoreMb: 50 });
    await using stream = await openStream({ natsUrl: cluster.url, settings: SETTINGS, log });
    const side = await stream.controlSide();
    const dueAt = Date.now() + 3_600_000;
    const ids = Array.from({ length: 2_000 }, (_, index) => `dst_${index}`);
    await Promise.all(ids.map((id) => side.tickets.ensure(id, { dueAt, hurry: false })));
    await side[Symbol.asyncDispose]();
    const { state } = await withManager(cluster.url, (manager) => manager.streams.info('TICKETS'));
    assert.ok(state.bytes > 50_000_000 * 0.005, `${state.bytes} bytes are more than the former limit`);
    assert.equal(state.messages, 2_000);
  });

  test('says that no server can be reached', async () => {
    await assert.rejects(openStream({ natsUrl: 'nats://127.0.0.1:1', settings: SETTINGS, log }), /refused/i);
  });
});

function streamsOf(url: string): Promise<StreamConfig[]> {
  return withManager(url, async (manager) => {
    const configs = [];
    for await (const info of manager.streams.list()) configs.push(info.config);
    return configs;
  });
}

function addStream(url: string, config: { storage?: StorageType; persist_mode?: PersistMode }): Promise<unknown> {
  return withManager(url, (manager) => manager.streams.add({ name: 'EVENTS-0', subjects: ['events.0.*'], ...config }));
}

async function withManager<T>(url: string, act: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const nc = await connect({ servers: url.split(',') });
  const result = await act(await jetstreamManager(nc));
  await nc.close();
  return result;
}

function changeStream(url: string, name: string, change: Partial<StreamConfig>): Promise<unknown> {
  return withManager(url, (manager) => manager.streams.update(name, change));
}

function purge(url: string, name: string): Promise<unknown> {
  return withManager(url, (manager) => manager.streams.purge(name));
}

async function changeConsumer(url: string, change: Partial<ConsumerConfig>): Promise<ConsumerConfig> {
  const { config } = await withManager(url, (manager) => manager.consumers.update('EVENTS-0', 'deliver', change));
  return config;
}
