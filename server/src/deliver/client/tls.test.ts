import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { type TlsOptions, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { openCertificates } from '../../../testing/certificates.ts';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import type { Client } from './open-client.ts';
import { ok, openRawReceiver } from '../../../testing/raw-receiver.ts';
import { until } from '../../../testing/until.ts';

const certificates = openCertificates();
const stranger = openCertificates();
const good = certificates.make({ names: 'DNS:hook.test' });

function openTlsClient(): Client {
  const resolve = () => Promise.resolve({ ok: true as const, addresses: ['127.0.0.1'] });
  return openTestClient({ resolve, certificateAuthorities: certificates.authority, timeoutMs: 3_000 });
}

/** Versions that OpenSSL 3 does not offer at its default security level. */
const OLD_TLS: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };

suite('a POST over TLS', () => {
  after(() => {
    certificates[Symbol.dispose]();
    stranger[Symbol.dispose]();
  });

  test('reaches a receiver whose certificate is for its name, by its address', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(ok, { tls: { ...good, ALPNProtocols: ['h2', 'http/1.1'] } });
    const answer = await postTo(client, `https://hook.test:${receiver.port}/hook`);
    assert.equal(wordFor(answer), 200, JSON.stringify(answer));
    assert.equal(answer.address, '127.0.0.1');
    assert.ok(answer.timings.tlsMs !== undefined && answer.timings.dnsMs !== undefined);
    assert.match(receiver.received[0]?.head ?? '', new RegExp(`\r\nhost: hook\\.test:${receiver.port}\r\n`));
    const [secured] = receiver.secured;
    assert.equal(secured?.alpnProtocol, 'http/1.1');
    assert.equal(secured?.servername, 'hook.test');
  });

  test('negotiates keys once: a receiver that wants to do it again and again is cut off or ignored', async () => {
    await using client = openTlsClient();
    let renegotiations = 0;
    await using receiver = await openRawReceiver(
      (socket) => {
        const again = (): void => {
          if (socket.destroyed || !(socket instanceof TLSSocket)) return;
          socket.renegotiate({}, (error) => {
            if (error === null) renegotiations += 1;
            again();
          });
        };
        again();
      },
      { tls: { ...good, maxVersion: 'TLSv1.2' } },
    );
    const answer = await postTo(client, `https://hook.test:${receiver.port}/hook`);
    assert.equal(answer.kind, 'error', JSON.stringify(answer));
    assert.equal(renegotiations, 0);
  });

  test('takes the dot at the end of a name for what it is', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(ok, { tls: good });
    assert.equal(wordFor(await postTo(client, `https://hook.test.:${receiver.port}/hook`)), 200);
  });

  test('uses its connection again, and resumes no session on a new one', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(ok, { tls: good });
    const url = `https://hook.test:${receiver.port}/hook`;
    for (const workspaceId of ['ws_one', 'ws_one', 'ws_two', 'ws_two']) await postTo(client, url, { workspaceId });
    assert.deepEqual(
      receiver.secured.map((socket) => socket.isSessionReused()),
      [false, false],
    );
    await client[Symbol.asyncDispose]();
    assert.equal(client.stats().sockets, 0);
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test('is sent to an address when the certificate names that address', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(ok, { tls: certificates.make({ names: 'IP:127.0.0.1' }) });
    assert.equal(wordFor(await postTo(client, receiver.url)), 200);
    assert.equal(receiver.secured[0]?.servername, false, 'SNI is for names');
  });

  const refused: [what: string, word: string, tls: () => TlsOptions, host?: string][] = [
    ['S22: self-signed', 'tls_self_signed', () => certificates.make({ names: 'DNS:hook.test', isSelfSigned: true })],
    ['S23: expired', 'tls_expired', () => certificates.make({ names: 'DNS:hook.test', days: -1 })],
    ['S24: for another host', 'tls_wrong_host', () => certificates.make({ names: 'DNS:other.test' })],
    ['S25: without the address that the URL names', 'tls_wrong_host', () => good, '127.0.0.1'],
    ['of a chain that is not complete', 'tls_untrusted', () => stranger.make({ names: 'DNS:hook.test' })],
    ['S26: shown over TLS 1.0 or 1.1', 'tls_failed', () => ({ ...good, ...OLD_TLS })],
    ['shown by a receiver that speaks HTTP/2 only', 'tls_failed', () => ({ ...good, ALPNProtocols: ['h2'] })],
  ];
  for (const [what, word, tls, host = 'hook.test'] of refused) {
    test(`is refused before its first byte when the certificate is ${what}`, async () => {
      await using client = openTlsClient();
      await using receiver = await openRawReceiver(ok, { tls: tls() });
      const answer = await postTo(client, `https://${host}:${receiver.port}/hook`);
      assert.equal(wordFor(answer), word, JSON.stringify(answer));
      assert.match(answer.kind === 'error' ? answer.message : '', /nothing was sent/);
      await until(() => receiver.sockets.length > 0 && receiver.sockets.every((socket) => socket.destroyed));
      assert.equal(receiver.bytes(), 0);
      await isEmpty(client);
    });
  }

  test('names the reason when the receiver does not speak TLS at all', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(() => undefined);
    receiver.onConnection((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    assert.equal(wordFor(await postTo(client, `https://hook.test:${receiver.port}/`)), 'tls_failed');
  });

  test('is refused too when the receiver hangs up in the handshake', async () => {
    await using client = openTlsClient();
    await using receiver = await openRawReceiver(() => undefined);
    receiver.onConnection((socket) => socket.once('data', () => socket.resetAndDestroy()));
    assert.equal(wordFor(await postTo(client, `https://hook.test:${receiver.port}/`)), 'connection_reset');
    await isEmpty(client);
  });

  test('is refused although NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    await using receiver = await openRawReceiver(ok, {
      tls: certificates.make({ names: 'DNS:hook.test', isSelfSigned: true }),
    });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', CHILD], {
      env: { NODE_TLS_REJECT_UNAUTHORIZED: '0', PORT: String(receiver.port) },
      cwd: join(import.meta.dirname),
    });
    assert.equal(stdout, 'tls_self_signed', stderr);
    assert.equal(receiver.bytes(), 0);
  });
});

const CHILD = `
  import { openTestClient, postTo, wordFor } from '../../../testing/client.ts';
  const resolve = async () => ({ ok: true, addresses: ['127.0.0.1'] });
  await using client = openTestClient({ resolve });
  process.stdout.write(wordFor(await postTo(client, 'https://hook.test:' + process.env.PORT)));
`;
