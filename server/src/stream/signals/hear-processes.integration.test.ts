import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { staysTrueFor, until } from '../../../testing/until.ts';
import { ALIVE_SUBJECT } from '../layout/layout.ts';
import { inboxPrefix, type NatsRole } from '../layout/permissions.ts';
import { connectNats, type Connection } from '../nats/connect-nats.ts';
import { hearProcesses } from './hear-processes.ts';
import { ALIVE_EVERY_MS, tellAlive } from './tell-alive.ts';

const log = openLog({ level: 'silent', pretty: false });
const MINUTE = 60_000;

const opened = new AsyncDisposableStack();
let cluster: NatsCluster;
before(async () => void (cluster = opened.use(await startNatsCluster())));
after(() => opened.disposeAsync());

async function connectAs(role: NatsRole): Promise<Connection> {
  const url = cluster.url.replace('nats://', `nats://${role}:${role}@`);
  return opened.use(await connectNats({ url, inbox: inboxPrefix(role), name: role, log }));
}

suite('heartbeats of processes', () => {
  test('are heard of every role by its own NATS user, and end with the process', { timeout: 3 * MINUTE }, async () => {
    using heard = hearProcesses(await connectAs('control'));
    const about = (role: NatsRole) => ({ roles: [role], version: '1.2.3', startedAt: 1_000 });
    using others = new DisposableStack();
    others.use(tellAlive(await connectAs('collect'), about('collect')));
    others.use(tellAlive(await connectAs('deliver'), about('deliver')));
    const own = tellAlive(await connectAs('control'), about('control'));
    const roles = () =>
      heard
        .list()
        ?.flatMap((one) => one.roles)
        .toSorted();
    await until(() => roles()?.length === 3, MINUTE);
    assert.deepEqual(roles(), ['collect', 'control', 'deliver']);
    const [first] = heard.list() ?? [];
    assert.deepEqual([first?.version, first?.startedAt], ['1.2.3', '1970-01-01T00:00:01.000Z']);
    own[Symbol.dispose]();
    await until(() => roles()?.length === 2, MINUTE);
    assert.deepEqual(roles(), ['collect', 'deliver']);
  });

  test('of another form are passed over, however many and long they are', { timeout: 2 * MINUTE }, async () => {
    const control = await connectAs('control');
    using heard = hearProcesses(control);
    await control.nc.flush();
    const { nc } = await connectAs('collect');
    for (let i = 0; i < 3_000; i += 1) nc.publish(ALIVE_SUBJECT, `id${i} collect 1.2.3 ${i}`);
    for (const text of [
      '',
      'x',
      'id owner 1 1',
      `id collect ${'1'.repeat(200)} 1`,
      'id collect <b> 1',
      'id collect 1 x',
    ])
      nc.publish(ALIVE_SUBJECT, text);
    await nc.flush();
    await until(() => (heard.list()?.length ?? 0) >= 900, MINUTE);
    assert.ok((heard.list()?.length ?? 0) <= 1_000);
    assert.ok(heard.list()?.every(({ id, version }) => /^id\d+$/.test(id) && version === '1.2.3'));
  });

  test('that an older NATS user may not publish are denied once, and then rest', { timeout: 2 * MINUTE }, async () => {
    const file = join(cluster.dir, 'n1.conf');
    const users = readFileSync(file, 'utf8');
    writeFileSync(file, users.replaceAll(ALIVE_SUBJECT, 'process.other'));
    await cluster.nodes[0]?.kill('SIGHUP');
    const { nc } = await connectAs('collect');
    const denials: string[] = [];
    const listening = (async () => {
      for await (const status of nc.status()) if (status.type === 'error') denials.push(status.error.message);
    })();
    // The servers read their configuration anew in their own time.
    await until(async () => {
      nc.publish(ALIVE_SUBJECT, 'x');
      await nc.flush();
      return denials.length > 0;
    }, MINUTE);
    const collect = await connectAs('collect');
    const heeded: string[] = [];
    const heeding = (async () => {
      for await (const status of collect.nc.status()) if (status.type === 'error') heeded.push(status.error.message);
    })();
    using _ = tellAlive(collect, { roles: ['collect'], version: '1.2.3', startedAt: 1 });
    await until(() => heeded.length === 1, MINUTE);
    await staysTrueFor(3 * ALIVE_EVERY_MS, () => heeded.length === 1);
    writeFileSync(file, users);
    await cluster.nodes[0]?.kill('SIGHUP');
    await Promise.all([nc.close(), collect.nc.close(), listening, heeding]);
  });
});
