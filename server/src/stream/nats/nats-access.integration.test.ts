import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { nkeys } from '@nats-io/transport-node';
import { type Certificates, openCertificates } from '../../../testing/certificates.ts';
import { openLog } from '../../log.ts';
import { connectNats } from './connect-nats.ts';
import type { NatsFiles } from './nats-access.ts';
import { openStream } from '../open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });

let dir = '';
let certificates: Certificates;
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const pair = (name: string, names: string) => {
  const { key, cert } = certificates.make({ names });
  return { certFile: file(`${name}.pem`, cert), keyFile: file(`${name}-key.pem`, key) };
};
const overTls = (url: string) => url.replaceAll('nats://', 'tls://');

before(() => {
  dir = mkdtempSync(join(tmpdir(), 'millrace-access-'));
  certificates = openCertificates();
  file('ca.pem', certificates.authority);
});
after(() => {
  certificates[Symbol.dispose]();
  rmSync(dir, { recursive: true, force: true });
});

suite('the way to NATS', () => {
  test('is encrypted when the URL says tls://, for every connection of a process', async () => {
    await using cluster = await startNatsCluster({ tls: pair('server', 'IP:127.0.0.1') });
    await using wire = await openWire(cluster.url);
    const natsFiles = { ca: join(dir, 'ca.pem') };
    const natsUrl = overTls(wire.url);
    await using stream = await openStream({ natsUrl, natsFiles, settings: STREAM_SETTINGS, log });
    await using sides = new AsyncDisposableStack();
    for (const side of [await stream.deliverySide(), await stream.recordSide(), await stream.controlSide()])
      sides.use(side);
    const writer = await stream.configWriter();
    await writer.putSource({ id: 'src_seen', workspaceId: 'ws_1', name: '', enabled: true, writeKeyHashes: [] });
    assert.ok(wire.connections() >= 6, `${wire.connections()} connections`);
    assert.doesNotMatch(wire.text(), /CONNECT|SUB |PUB |src_seen/);
  });

  test('is not taken when the URL says tls:// and the server offers none, and nothing is sent in clear', async () => {
    await using cluster = await startNatsCluster();
    await using wire = await openWire(cluster.url);
    const url = overTls(wire.url).replace('tls://', 'tls://user:secret-password@');
    await assert.rejects(connect(url), /TLS is asked for .* does not offer it/);
    assert.equal(wire.sent(), '');
  });

  test('is not taken when one of several servers in the list is named with tls:// and another offers none', async () => {
    await using cluster = await startNatsCluster();
    await assert.rejects(connect(`${cluster.url},tls://127.0.0.1:1`), /TLS is asked for|refused/);
  });

  test('is not taken when the certificate is of an unknown authority or for another host', async () => {
    await using unknown = await startNatsCluster({ tls: pair('unknown', 'IP:127.0.0.1') });
    await assert.rejects(connect(overTls(unknown.url)), /MILLRACE_NATS_CA_FILE/);
    await using other = await startNatsCluster({ tls: pair('other', 'DNS:nats.example.com') });
    const files = { ca: join(dir, 'ca.pem') };
    await assert.rejects(connect(overTls(other.url), files), /not for the host in MILLRACE_NATS_URL/);
    // The name that node:tls assumes when it is given none.
    await using local = await startNatsCluster({ tls: pair('local', 'DNS:localhost') });
    await assert.rejects(connect(overTls(local.url), files), /not for the host in MILLRACE_NATS_URL/);
    await using connection = await connect(overTls(local.url).replace('127.0.0.1', 'localhost'), files);
    assert.ok(connection.isConnected());
  });

  test('needs the client certificate that the server asks for', async () => {
    const tls = { ...pair('verifying', 'IP:127.0.0.1'), clientCaFile: join(dir, 'ca.pem') };
    await using cluster = await startNatsCluster({ tls });
    const ca = join(dir, 'ca.pem');
    await assert.rejects(connect(overTls(cluster.url), { ca }), /set MILLRACE_NATS_CERT_FILE/);
    const client = pair('client', 'DNS:deliver');
    await using connection = await connect(overTls(cluster.url), {
      ca,
      certificate: client.certFile,
      key: client.keyFile,
    });
    assert.ok(connection.isConnected());
  });

  test('takes an NKey from its file, and is refused with another one', async () => {
    const user = nkeys.createUser();
    await using cluster = await startNatsCluster({ nkey: user.getPublicKey() });
    const nkeySeed = file('user.nk', `${Buffer.from(user.getSeed()).toString()}\n`);
    await using connection = await connect(cluster.url, { nkeySeed });
    assert.ok(connection.isConnected());
    const stranger = file('stranger.nk', Buffer.from(nkeys.createUser().getSeed()).toString());
    await assert.rejects(connect(cluster.url, { nkeySeed: stranger }), /refuses this user/);
    await assert.rejects(connect(cluster.url), /refuses this user/);
  });

  test('is tried again when a starved machine signs in too late, and says so when that does not help', async () => {
    await using cluster = await startNatsCluster();
    await using wire = await openWire(cluster.url, { late: 2 });
    await using connection = await connect(wire.url);
    assert.ok(connection.isConnected());
    assert.equal(wire.connections(), 3);
    await using overloaded = await openWire(cluster.url, { late: 100 });
    await assert.rejects(connect(overloaded.url), /one of their machines is overloaded/);
  });
});

function connect(url: string, files: NatsFiles = {}) {
  return connectNats({ url, files, name: 'test', log });
}

/** Stands between a process and its server and keeps what clients send. The first `late` of them are hung up on. */
async function openWire(natsUrl: string, { late = 0 } = {}) {
  const chunks: Buffer[] = [];
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = createConnection(Number(new URL(natsUrl).port), '127.0.0.1');
    if (connections <= late) {
      far.once('data', (greeting: Buffer) => near.write(greeting));
      near.once('data', () => near.end("-ERR 'Authentication Timeout'\r\n"));
      near.on('error', () => undefined).on('close', () => far.destroy());
      return;
    }
    near.on('data', (chunk: Buffer) => chunks.push(chunk));
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const text = () => Buffer.concat(chunks).toString('latin1');
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text,
    sent: text,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
