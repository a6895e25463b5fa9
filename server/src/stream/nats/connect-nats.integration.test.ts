import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { until } from '../../../testing/until.ts';
import { type Connection, connectNats } from './connect-nats.ts';

const log = openLog({ level: 'silent', pretty: false });
/** More than the kernel holds for a socket. */
const PAYLOADS = 64;
const PAYLOAD = Buffer.alloc(512 * 1_024);

suite('a connection with more to send than the kernel takes', () => {
  test('goes to another server when the host of its own has vanished', { timeout: 120_000 }, async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using way = await openWay(cluster.nodes[0]?.url ?? '');
    await using connection = await connectNats({ url: way.url, name: 'tests', log });
    assert.equal(connection.nc.getServer(), new URL(way.url).host);
    way.vanish();
    fill(connection);
    await until(() => connection.losses() > 0 && connection.isConnected());
    assert.notEqual(connection.nc.getServer(), new URL(way.url).host);
    await connection.nc.flush();
  });

  test('leaves a server that takes nothing any more', { timeout: 120_000 }, async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using way = await openWay(cluster.nodes[0]?.url ?? '');
    await using connection = await connectNats({ url: way.url, name: 'tests', log });
    way.vanish();
    fill(connection);
    connection.leaveServer('the test says so');
    await until(() => connection.losses() > 0 && connection.isConnected());
    await connection.nc.flush();
  });
});

function fill({ nc }: Connection): void {
  for (let count = 0; count < PAYLOADS; count += 1) nc.publish('tests.fill', PAYLOAD);
}

type Way = AsyncDisposable & {
  url: string;
  /** From now on both ends hear nothing of each other, and no socket is closed. */
  vanish(): void;
};

/** A TCP proxy to a server. */
async function openWay(to: string): Promise<Way> {
  const { port, hostname } = new URL(to);
  const sockets: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has this kind of address
  const address = proxy.address() as AddressInfo;
  return {
    url: `nats://127.0.0.1:${address.port}`,
    vanish() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
