/** Where control asks, and where it does not, however the address is written. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTls } from 'node:https';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { suite, test } from 'node:test';
import { openCertificates } from '../../../testing/certificates.ts';
import { readNetworks } from '../../http/address-policy.ts';
import type { Resolve } from '../../http/resolve-name.ts';
import { openProviderFetch } from './open-provider-fetch.ts';
import { ProviderTrouble } from './provider-trouble.ts';

const GET = { method: 'GET', headers: {} };
const names =
  (...addresses: string[]): Resolve =>
  async () => ({ ok: true, addresses });

async function kindOf(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderTrouble, String(error));
  return error.kind;
}

suite('a request to a provider', () => {
  test('goes to no private address, by whatever name or notation', async () => {
    const fetch = openProviderFetch({ networks: readNetworks(''), resolve: names('10.0.0.1') });
    const urls = [
      'https://10.0.0.1/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://169.254.169.254/',
      'https://localhost/',
      'https://metadata.google.internal/',
      'https://idp.example/',
      'https://idp.example:6379/',
      'https://user:password@idp.example/',
    ];
    for (const url of urls) assert.equal(await kindOf(fetch(url, GET)), 'address_refused', url);
    const mixed = openProviderFetch({ networks: readNetworks(''), resolve: names('192.0.2.1', '10.0.0.1') });
    assert.equal(
      await kindOf(mixed('https://idp.example/', GET)),
      'address_refused',
      'one of its addresses is private',
    );
  });

  test('goes over plain HTTP to an allowed loopback address only', async () => {
    const closed = openProviderFetch({ networks: readNetworks(''), resolve: names('192.0.2.1') });
    assert.equal(await kindOf(closed('http://127.0.0.1:39999/', GET)), 'address_refused');
    const allowed = openProviderFetch({
      networks: readNetworks('127.0.0.0/8,10.0.0.0/8'),
      resolve: names('127.0.0.1'),
    });
    for (const url of ['http://10.0.0.1/', 'http://idp.example/']) {
      assert.equal(await kindOf(allowed(url, GET)), 'address_refused', url);
    }
    assert.equal(await kindOf(allowed('http://127.0.0.1:39999/', GET)), 'unreachable');
  });

  test('follows no redirect, sends its body, and reads the answer whole', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (body) => {
        seen.push(`${request.method} ${request.url} ${request.headers.host} ${String(body)}`);
        response.writeHead(302, { location: '/elsewhere', 'content-type': 'text/plain' }).end('moved');
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const fetch = openProviderFetch({ networks: readNetworks('127.0.0.0/8'), resolve: names() });
    const answer = await fetch(`http://127.0.0.1:${port}/token?a=b`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ code: 'x' }),
    });
    server.close();
    assert.deepEqual(
      [answer.status, answer.headers.get('location'), await answer.text()],
      [302, '/elsewhere', 'moved'],
    );
    assert.deepEqual(seen, [`POST /token?a=b 127.0.0.1:${port} code=x`]);
  });

  test('checks the certificate, and sends nothing where none is trusted', async () => {
    using certificates = openCertificates();
    let requests = 0;
    const count = () => void (requests += 1);
    const servers = [createServer(count), createTls(certificates.make({ names: 'IP:127.0.0.1' }), count)];
    const fetch = openProviderFetch({ networks: readNetworks('127.0.0.0/8'), resolve: names() });
    for (const server of servers) {
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      assert.equal(await kindOf(fetch(`https://127.0.0.1:${port}/`, GET)), 'unreachable');
      server.close();
    }
    assert.equal(requests, 0);
  });

  test('fails alone when the answer is odd: the process goes on', async () => {
    const fetch = openProviderFetch({ networks: readNetworks('127.0.0.0/8'), resolve: names() });
    const odd = [
      'HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\n{}',
      'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}',
      'no HTTP at all\r\n\r\n',
    ];
    for (const bytes of odd) {
      const server = createTcp((socket) => socket.on('error', () => undefined).end(bytes));
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      assert.equal(await kindOf(fetch(`http://127.0.0.1:${port}/`, GET)), 'unreachable', bytes);
      server.close();
    }
  });

  test('ends after its time, also while its name is looked up', async () => {
    const never = new Promise<never>(() => undefined);
    const fetch = openProviderFetch({ networks: readNetworks(''), resolve: () => never, timeoutMs: 100 });
    assert.equal(await kindOf(fetch('https://idp.example/', GET)), 'too_slow');
  });
});
