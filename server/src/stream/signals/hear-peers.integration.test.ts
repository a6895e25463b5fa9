import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { until } from '../../../testing/until.ts';
import { PEERS_SUBJECT } from '../layout/layout.ts';
import { inboxPrefix } from '../layout/permissions.ts';
import { connectNats, type Connection } from '../nats/connect-nats.ts';
import { hearPeers } from './hear-peers.ts';

const log = openLog({ level: 'silent', pretty: false });

const opened = new AsyncDisposableStack();
let cluster: NatsCluster;
let control: Connection;
let admin: Connection;
before(async () => {
  cluster = opened.use(await startNatsCluster());
  const url = cluster.url.replace('nats://', 'nats://control:control@');
  control = opened.use(await connectNats({ url, inbox: inboxPrefix('control'), name: 'control', log }));
  admin = opened.use(await connectNats({ url: cluster.adminUrl, name: 'admin', log }));
});
after(() => opened.disposeAsync());

/** Changes what the NATS users may do, as an operator does. */
async function render(change: (config: string) => string): Promise<void> {
  const file = join(cluster.dir, 'n1.conf');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  await cluster.nodes[0]?.kill('SIGHUP');
}

suite('heartbeats of deliver processes', () => {
  test('are heard with their versions, and those that are too long are passed over', async () => {
    using peers = hearPeers(control);
    await control.nc.flush();
    admin.nc.publish(PEERS_SUBJECT, `x${'y'.repeat(100_000)}`);
    admin.nc.publish(PEERS_SUBJECT, 'one 1.2.3');
    admin.nc.publish(PEERS_SUBJECT, 'two');
    admin.nc.publish(PEERS_SUBJECT, 'three 1.3.0 2');
    admin.nc.publish(PEERS_SUBJECT, 'four 1.3.0 many');
    await until(() => peers.list()?.length === 4);
    assert.deepEqual(peers.list(), [
      { id: 'four', version: '1.3.0', settingsKnown: 1 },
      { id: 'one', version: '1.2.3', settingsKnown: 1 },
      { id: 'three', version: '1.3.0', settingsKnown: 2 },
      { id: 'two', version: null, settingsKnown: 1 },
    ]);
  });

  test('are unknown while the NATS user may not listen, and are heard again when it may', async () => {
    await render((config) => config.replaceAll(PEERS_SUBJECT, 'deliver.other'));
    using peers = hearPeers(control, 100);
    await until(() => peers.list() === undefined);
    await render((config) => config.replaceAll('deliver.other', PEERS_SUBJECT));
    await until(() => peers.list() !== undefined);
    assert.deepEqual(peers.list(), [], 'none is alive');
    admin.nc.publish(PEERS_SUBJECT, 'one');
    await until(() => peers.list()?.length === 1);
    await render((config) => config.replaceAll(PEERS_SUBJECT, 'deliver.other'));
    await until(() => peers.list() === undefined);
  });
});
