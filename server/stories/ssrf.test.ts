/**
 * The list of ways to make a sender of webhooks knock on doors inside (S1 to S31). Each is refused when it is saved, where a
 * look at the text is enough, and each is refused when we connect, by a client that reads a URL that was never checked.
 * S20, S28 and S29 are in deliver/client/answers.test.ts, S22 to S26 in deliver/client/tls.test.ts, S31 in
 * scripts/boundaries.test.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { suite, test } from 'node:test';
import { urlProblem } from '../src/control/settings/webhook-url.ts';
import { addressProblem, readNetworks, selfProblem } from '../src/http/address-policy.ts';
import { isEmpty, openTestClient, postTo, wordFor } from '../testing/client.ts';
import { openNameServer, type Zone } from '../testing/name-server.ts';
import { openClient } from '../src/deliver/client/open-client.ts';
import { ok, openRawReceiver } from '../testing/raw-receiver.ts';
import { openResolver } from '../src/http/resolve-name.ts';

const NOBODY = readNetworks('');

/** `{port}` is where a receiver listens that must not be reached. */
const LITERALS: Record<string, string[]> = {
  S1: ['http://127.0.0.1:{port}/'],
  S2: ['http://127.1:{port}/'],
  S3: ['http://2130706433:{port}/'],
  S4: ['http://0x7f000001:{port}/'],
  S5: ['http://0177.0.0.1:{port}/'],
  S6: ['http://0:{port}/'],
  S7: ['http://0.0.0.0:{port}/'],
  S8: ['http://[::]:{port}/'],
  S9: ['http://[::1]:{port}/'],
  S10: ['http://[::ffff:127.0.0.1]:{port}/'],
  S11: ['http://[::127.0.0.1]:{port}/'],
  S12: ['http://[64:ff9b::7f00:1]:{port}/'],
  S13: ['http://[64:ff9b:1::a9fe:a9fe]:{port}/'],
  S14: ['http://[2002:7f00:1::]:{port}/'],
  S15: ['http://[2001:0:7f00:1::]:{port}/'],
  S16: ['http://[::ffff:0:127.0.0.1]:{port}/'],
  S17: [
    'http://169.254.169.254/latest/meta-data/',
    'http://0xA9FEA9FE/',
    'http://169.254.170.2/',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://[fd00:ec2::254]/',
    'http://[fd20:ce::254]/',
    'http://metadata.google.internal./',
  ],
  S18: [
    'http://localhost:{port}/',
    'http://x.localhost:{port}/',
    'http://localhost.:{port}/',
    'http://localhost..:{port}/',
    'http://metadata.google.internal../',
    'http://.localhost:{port}/',
    'http://x..localhost:{port}/',
  ],
  S19: [
    'http://good@127.0.0.1:{port}/',
    'http://127.0.0.1:{port}#@good/',
    'http:\\\\127.0.0.1:{port}',
    'http://127。0。0。1:{port}/',
    'http://127.0.0.1\u00ad:{port}/',
    'http://%31%32%37.0.0.1:{port}/',
    'http://good@example.com/',
  ],
  S21: [22, 25, 6379, 4222, 5432, 0].flatMap((port) => [`http://8.8.8.8:${port}/`, `https://example.com:${port}/`]),
  S27: [
    'unix:/var/run/docker.sock',
    'file:///etc/passwd',
    'ftp://127.0.0.1:{port}/',
    'gopher://127.0.0.1:{port}/_x',
    'data:text/plain,x',
    'javascript:alert(1)',
    'ws://127.0.0.1:{port}/',
    'not a url',
    '',
  ],
};

suite('a URL that leads inside by its text', () => {
  for (const [id, urls] of Object.entries(LITERALS)) {
    test(`${id} is refused when it is saved and when we connect`, async () => {
      await using client = openClient({ networks: NOBODY, resolve: () => Promise.reject(new Error('asked')) });
      await using inside = await openRawReceiver(ok);
      for (const url of urls.map((each) => each.replace('{port}', String(inside.port)))) {
        assert.match(urlProblem(url, NOBODY) ?? '', /must/, url);
        const answer = await postTo(client, url);
        assert.match(String(wordFor(answer)), /^(address_forbidden|url_invalid)$/, `${url}: ${JSON.stringify(answer)}`);
        assert.equal(answer.address, undefined);
      }
      assert.equal(inside.sockets.length, 0);
      await isEmpty(client);
    });
  }

  test('S21: a port of another service is refused inside an allowed network too', async () => {
    await using client = openTestClient();
    for (const port of [22, 25, 6379, 4222, 5432]) {
      assert.match(urlProblem(`http://127.0.0.1:${port}/`, readNetworks('127.0.0.0/8')) ?? '', /port/);
      assert.equal(wordFor(await postTo(client, `http://127.0.0.1:${port}/`)), 'address_forbidden');
    }
  });

  test('S30: the addresses of this machine that are not public are refused like any other', async () => {
    await using client = openClient({ networks: NOBODY });
    const ours = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
    const inside = ours.filter(({ address }) => addressProblem(address, NOBODY) !== undefined);
    assert.ok(inside.length > 0);
    for (const { address, family } of inside) {
      const url = `http://${family === 'IPv6' ? `[${address}]` : address}:8080/`;
      assert.equal(wordFor(await postTo(client, url)), 'address_forbidden', url);
    }
  });

  test('S30: a connection to a public address of this machine is refused, unless it is allowed', () => {
    const connection = { from: '8.8.4.4', to: '8.8.4.4' };
    assert.match(selfProblem(connection, NOBODY) ?? '', /this server's own/);
    assert.equal(selfProblem(connection, readNetworks('8.8.4.0/24')), undefined);
    assert.equal(selfProblem({ ...connection, from: '8.8.8.8' }, NOBODY), undefined);
  });

  test('S30: what whoever runs us denies is refused, also where it is public or allowed', async () => {
    const networks = readNetworks('127.0.0.0/8', '127.0.0.1/32,2606:4700::/32');
    await using client = openClient({ networks });
    await using inside = await openRawReceiver(ok);
    for (const url of [`http://127.0.0.1:${inside.port}/`, 'https://[2606:4700::1]/']) {
      assert.match(urlProblem(url, networks) ?? '', /MILLRACE_DENY_CIDRS/);
      assert.equal(wordFor(await postTo(client, url)), 'address_forbidden', url);
    }
    assert.equal(inside.sockets.length, 0);
  });

  test('S30: what is denied is denied in every notation, its own and that of the address', () => {
    const denied = '93.184.216.34/32';
    assert.match(addressProblem('93.184.216.34', readNetworks('', '::ffff:93.184.216.34/128')) ?? '', /DENY/);
    for (const address of ['::ffff:93.184.216.34', '64:ff9b::5db8:d822', '2002:5db8:d822::1']) {
      assert.match(addressProblem(address, readNetworks('::/0', denied)) ?? '', /DENY/, address);
    }
    assert.equal(addressProblem('93.184.216.35', readNetworks('', denied)), undefined);
  });
});

/** 127.0.0.2 plays the public address here, 127.0.0.1 the one inside. */
const OUTSIDE_ONLY = readNetworks('127.0.0.2/32');
const MANY = Array.from({ length: 300 }, (_, nth) => `203.0.${nth >> 8}.${nth & 0xff}`);
const ZONE: Zone = {
  'good.example': () => ['127.0.0.2'],
  'inside.example': () => ['127.0.0.1'],
  'mixed.example': () => ['127.0.0.2', '127.0.0.1'],
  'families.example': () => ['127.0.0.2', '::1'],
  'mapped.example': () => ['127.0.0.2', '::ffff:127.0.0.1'],
  'metadata.example': () => ['169.254.169.254'],
  'alias.example': () => ['db.inside', '127.0.0.1'],
  'rebinding.example': (nth) => [nth === 1 ? '127.0.0.2' : '127.0.0.1'],
  'many.example': () => ['127.0.0.2', ...MANY],
  'none.example': () => [],
  'failing.example': () => ['failure'],
  'silent.example': () => ['silence'],
};

/** A port that is free at 127.0.0.2 may have a listener at 127.0.0.1. */
async function portFreeEverywhere(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

suite('a name that leads inside', () => {
  const refused: [what: string, name: string, word: string][] = [
    ['S18: has an address inside', 'inside.example', 'address_forbidden'],
    ['S18: has one inside among public ones', 'mixed.example', 'address_forbidden'],
    ['S18: has a public A and a private AAAA', 'families.example', 'address_forbidden'],
    ['S18: hides an address in a mapped one', 'mapped.example', 'address_forbidden'],
    ['S18: is an alias of a name inside', 'alias.example', 'address_forbidden'],
    ['S18: has 300 addresses', 'many.example', 'dns_failed'],
    ['S17: has the address of the metadata service', 'metadata.example', 'address_forbidden'],
    ['S18: carries its address in its text', '127.0.0.1.nip.io', 'dns_not_found'],
    ['has no address', 'none.example', 'dns_not_found'],
    ['has a name server in trouble', 'failing.example', 'dns_failed'],
    ['has a name server that says nothing', 'silent.example', 'dns_timeout'],
  ];
  for (const [what, name, word] of refused) {
    test(`is not contacted when it ${what}`, async () => {
      await using names = await openNameServer(ZONE);
      await using inside = await openRawReceiver(ok);
      const resolve = openResolver([names.address]);
      await using client = openClient({ networks: OUTSIDE_ONLY, resolve });
      const answer = await postTo(client, `http://${name}:${inside.port}/`);
      assert.equal(wordFor(answer), word, JSON.stringify(answer));
      // A tenant who can name hosts must not read the addresses of the network inside.
      assert.doesNotMatch(JSON.stringify({ ...answer, timings: {} }).replaceAll(name, ''), /127\.0\.0|169\.254|::/);
      assert.equal(inside.sockets.length, 0);
      await isEmpty(client);
    });
  }

  test('S18: never gets a second look: it is resolved once for each connection, and that address is used', async () => {
    await using names = await openNameServer(ZONE);
    await using outside = await openRawReceiver(
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
      { host: '127.0.0.2', port: await portFreeEverywhere() },
    );
    await using inside = await openRawReceiver(ok, { port: outside.port });
    await using client = openClient({ networks: OUTSIDE_ONLY, resolve: openResolver([names.address]) });
    const url = `http://rebinding.example:${outside.port}/`;
    const first = await postTo(client, url);
    assert.equal(wordFor(first), 200, JSON.stringify(first));
    assert.equal(first.address, '127.0.0.2');
    assert.deepEqual(names.questions.toSorted(), ['A rebinding.example', 'AAAA rebinding.example']);
    for (const _ of [1, 2, 3]) assert.equal(wordFor(await postTo(client, url)), 'address_forbidden');
    assert.equal(inside.sockets.length, 0);
  });

  test('is open in exactly the network that the operator allowed', async () => {
    await using names = await openNameServer(ZONE);
    await using outside = await openRawReceiver(ok, { host: '127.0.0.2' });
    await using client = openClient({ networks: OUTSIDE_ONLY, resolve: openResolver([names.address]) });
    assert.equal(wordFor(await postTo(client, `http://good.example:${outside.port}/`)), 200);
    assert.equal(wordFor(await postTo(client, `http://127.0.0.2:${outside.port}/`)), 200);
    for (const host of ['127.0.0.1', '127.0.0.3', '10.0.0.1', '[::1]', '[::ffff:127.0.0.2]', '169.254.169.254']) {
      assert.equal(wordFor(await postTo(client, `http://${host}:${outside.port}/`)), 'address_forbidden', host);
    }
  });

  test('stays closed at the metadata address when everything is allowed', async () => {
    await using names = await openNameServer(ZONE);
    const networks = readNetworks('0.0.0.0/0,::/0');
    await using client = openClient({ networks, resolve: openResolver([names.address]) });
    for (const host of ['metadata.example', '169.254.169.254', '[::ffff:169.254.169.254]']) {
      assert.equal(wordFor(await postTo(client, `http://${host}/`)), 'address_forbidden', host);
    }
  });

  test('is refused when the resolver says something that is not an address', async () => {
    for (const address of ['0x7f.1', '127.1', '', '127.0.0.1%lo', 'localhost', '2130706433']) {
      const resolve = () => Promise.resolve({ ok: true as const, addresses: [address] });
      await using client = openTestClient({ resolve });
      assert.equal(wordFor(await postTo(client, 'http://example.com:9999/')), 'address_forbidden', address);
    }
  });
});

suite('a name with several addresses', () => {
  test('is tried at the next one when the first does not listen', async () => {
    await using receiver = await openRawReceiver(ok, { host: '127.0.0.3', port: await portFreeEverywhere() });
    const resolve = () => Promise.resolve({ ok: true as const, addresses: ['127.0.0.1', '127.0.0.2', '127.0.0.3'] });
    await using client = openTestClient({ resolve });
    const answer = await postTo(client, `http://example.com:${receiver.port}/`);
    assert.equal(wordFor(answer), 200);
    assert.equal(answer.address, '127.0.0.3');
  });

  test('is tried at three of them, and no more', async () => {
    await using receiver = await openRawReceiver(ok, { host: '127.0.0.4', port: await portFreeEverywhere() });
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
    await using client = openTestClient({ resolve: () => Promise.resolve({ ok: true, addresses }) });
    assert.equal(wordFor(await postTo(client, `http://example.com:${receiver.port}/`)), 'connection_refused');
    assert.equal(receiver.sockets.length, 0);
  });
});
