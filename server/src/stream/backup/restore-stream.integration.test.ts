import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { jetstream, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { openLog } from '../../log.ts';
import { type Connection, connectNats } from '../nats/connect-nats.ts';
import { restoreStream } from './restore-stream.ts';
import { snapshotStream } from './snapshot-stream.ts';

suite('a server that takes a stream back', () => {
  let cluster: NatsCluster;
  let connection: Connection;
  let config: StreamConfig;
  const chunks: Buffer[] = [];

  before(async () => {
    cluster = await startNatsCluster({ nodes: 1, sync: 'default' });
    const log = openLog({ level: 'silent', pretty: false });
    connection = await connectNats({ url: cluster.adminUrl, name: 'tests', log });
    const manager = await jetstreamManager(connection.nc);
    ({ config } = await manager.streams.add({ name: 'KEPT', subjects: ['kept'] }));
    await jetstream(connection.nc).publish('kept', 'one');
    await snapshotStream(connection, 'KEPT', { write: async (chunk) => void chunks.push(Buffer.from(chunk)) });
    await manager.streams.delete('KEPT');
  });
  after(async () => {
    await connection[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const restore = (unheard: number) =>
    restoreStream(withUnheard(connection, unheard), { config, chunks: ReadableStream.from(chunks) });

  test('is given up when nobody hears a chunk for long', async () => {
    await assert.rejects(restore(Infinity), /no responders/);
    await (await jetstreamManager(connection.nc)).streams.delete('KEPT').catch(() => undefined);
  });

  test('gets a chunk again that nobody heard, because its servers did not know yet that it listens', async () => {
    const { messages, lastSequence } = await restore(3);
    assert.deepEqual([messages, lastSequence], [1, 1]);
  });
});

/** Of the chunks, the first ones go to a subject without a listener. */
function withUnheard(connection: Connection, unheard: number): Connection {
  let left = unheard;
  const request: NatsConnection['request'] = (subject, payload, options) => {
    const isLost = subject.startsWith('$JS.SNAPSHOT.RESTORE.') && left > 0;
    if (isLost) left -= 1;
    return connection.nc.request(isLost ? 'nobody.listens' : subject, payload, options);
  };
  const nc = new Proxy(connection.nc, {
    get: (target, name) => (name === 'request' ? request : Reflect.get(target, name, target)),
  });
  return { ...connection, nc };
}
