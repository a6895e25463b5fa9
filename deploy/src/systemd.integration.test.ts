/** The NATS servers of an installation with systemd, started with its configuration and its secrets. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parseEnv } from 'node:util';
import { freePorts } from '@millrace/engines';
import { pino } from 'pino';
import { readConfig, ROLES } from '../../server/src/config.ts';
import { openStream } from '../../server/src/stream/open-stream.ts';
import { openMetrics } from '../../server/src/metrics/open-metrics.ts';
import { startNatsServer } from './nats-server.ts';
import { makeSecrets, SYSTEMD_DIR } from './systemd.ts';
import { DEPLOY_DIR } from './tools.ts';

suite('NATS with systemd', () => {
  for (const size of [1, 3]) {
    test(`${size === 1 ? 'one server takes' : 'three servers find each other and take'} each role with its own user`, async () => {
      const hosts = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].slice(0, size);
      using made = makeSecrets(hosts.map((host) => `${host}:4222`).join(','));
      await using servers = await startServers(made.path, hosts);
      // Control first: it makes the streams, for which the other roles wait.
      for (const role of ['control' as const, ...ROLES.filter((role) => role !== 'control')]) {
        const dir = join(made.path, 'millrace/secrets', role);
        const given = readFileSync(join(dir, 'MILLRACE_NATS_URL'), 'utf8');
        writeFileSync(join(dir, 'MILLRACE_NATS_URL'), servers.translate(given));
        const env = { MILLRACE_ROLES: role, MILLRACE_SECRETS_DIR: dir, MILLRACE_REPLICAS: String(size) };
        const read = readConfig(env);
        assert.ok(read.ok);
        const { natsUrl, natsFiles, roles, stream: settings } = read.value;
        const log = pino({ level: 'silent' });
        const metrics = openMetrics();
        await using stream = await openStream({ natsUrl, natsFiles, roles, settings, metrics, log, version: 'test' });
        assert.equal(stream.isConnected(), true, role);
      }
    });
  }
});

/** All on this machine, so each has ports of its own instead of an address of its own. */
async function startServers(folder: string, hosts: string[]) {
  await using starting = new AsyncDisposableStack();
  const ports = await freePorts(hosts.length * 3);
  const portOf = (kind: 0 | 1 | 2, host: string) => String(ports[kind * hosts.length + hosts.indexOf(host)]);
  const translate = (text: string) =>
    hosts.reduce(
      (done, host) =>
        done
          .replaceAll(`${host}:4222`, `127.0.0.1:${portOf(0, host)}`)
          .replaceAll(`${host}:6222`, `127.0.0.1:${portOf(1, host)}`),
      text,
    );
  const passwords = parseEnv(readFileSync(join(folder, 'nats/passwords.env'), 'utf8'));
  await Promise.all(
    hosts.map(async (host) => {
      const home = join(folder, host);
      const own = (text: string) =>
        translate(text)
          .replace('port: 4222', `port: ${portOf(0, host)}`)
          .replace('port: 6222', `port: ${portOf(1, host)}`)
          .replace('127.0.0.1:8222', `127.0.0.1:${portOf(2, host)}`)
          .replace('/var/lib/nats', join(home, 'data'))
          .replace(/^# (?=include cluster)/m, hosts.length > 1 ? '' : '# ');
      mkdirSync(home);
      cpSync(join(DEPLOY_DIR, 'nats/accounts.conf'), join(home, 'accounts.conf'));
      writeFileSync(join(home, 'nats.conf'), own(readFileSync(join(SYSTEMD_DIR, 'nats.conf'), 'utf8')));
      if (hosts.length > 1) {
        writeFileSync(join(home, 'cluster.conf'), own(readFileSync(join(folder, 'nats/cluster.conf'), 'utf8')));
      }
      const env = { ...passwords, NATS_NAME: host, NATS_HOST: '127.0.0.1', NATS_MAX_FILE_STORE: '4GB' };
      const monitorPort = Number(portOf(2, host));
      starting.use(await startNatsServer({ name: host, configFile: join(home, 'nats.conf'), monitorPort, env }));
    }),
  );
  const servers = starting.move();
  return { translate, [Symbol.asyncDispose]: () => servers.disposeAsync() };
}
