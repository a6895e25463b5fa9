import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import type { UrlCheck } from '@millrace/contract/control';
import { readNetworks } from '../../http/address-policy.ts';
import { openCertificates } from '../../../testing/certificates.ts';
import { isEmpty, openTestClient } from '../../../testing/client.ts';
import { ok, openRawReceiver } from '../../../testing/raw-receiver.ts';
import { openClient } from './open-client.ts';
import type { Resolve } from '../../http/resolve-name.ts';

const certificates = openCertificates();
const stranger = openCertificates();
after(() => {
  certificates[Symbol.dispose]();
  stranger[Symbol.dispose]();
});

const leadingTo =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve({ ok: true, addresses });

const shape = ({ steps }: UrlCheck) => steps.map(({ step, ok }) => `${step} ${ok ? 'ok' : 'not ok'}`);

suite('the check of a URL', () => {
  test('goes through every step, shows the certificate, and sends nothing', async () => {
    const resolve = leadingTo('127.0.0.1');
    await using client = openTestClient({ resolve, certificateAuthorities: certificates.authority });
    await using receiver = await openRawReceiver(ok, { tls: certificates.make({ names: 'DNS:hook.test', days: 90 }) });
    const check = await client.check(`https://hook.test:${receiver.port}/hook`);
    assert.deepEqual(shape(check), ['url ok', 'dns ok', 'policy ok', 'connect ok', 'tls ok']);
    assert.equal(check.ok, true);
    assert.equal(check.sentence, 'The URL can be used.');
    const tls = check.steps.at(-1);
    assert.equal(tls?.tlsVersion, 'TLSv1.3');
    assert.deepEqual(
      { ...tls?.certificate, validFrom: '', validTo: '' },
      { subject: 'CN=one', issuer: 'CN=authority', names: 'DNS:hook.test', validFrom: '', validTo: '', daysLeft: 89 },
    );
    assert.equal(receiver.bytes(), 0);
    await isEmpty(client);
  });

  test('warns of a certificate that ends soon, and of a URL without TLS', async () => {
    const resolve = leadingTo('127.0.0.1');
    await using client = openTestClient({ resolve, certificateAuthorities: certificates.authority });
    await using receiver = await openRawReceiver(ok, { tls: certificates.make({ names: 'DNS:hook.test', days: 4 }) });
    const check = await client.check(`https://hook.test:${receiver.port}/`);
    assert.equal(check.sentence, 'The URL can be used. Its certificate ends in 3 days: renew it.');
    await using plain = await openRawReceiver(ok);
    const clear = await client.check(`http://hook.test:${plain.port}/`);
    assert.deepEqual(shape(clear), ['url ok', 'dns ok', 'policy ok', 'connect ok']);
    assert.match(clear.sentence, /^The URL can be used\. Without TLS/);
    assert.equal(plain.bytes(), 0);
  });

  test('shows the certificate that it refuses', async () => {
    const resolve = leadingTo('127.0.0.1');
    await using client = openTestClient({ resolve, certificateAuthorities: certificates.authority });
    const bad: [make: Parameters<typeof certificates.make>[0], from: typeof certificates, why: RegExp, days: number][] =
      [
        [{ names: 'DNS:other.test' }, certificates, /is not for hook\.test/, 1],
        [{ names: 'DNS:hook.test', days: -1 }, certificates, /has expired/, -2],
        [{ names: 'DNS:hook.test', isSelfSigned: true }, certificates, /self-signed/, 1],
        [{ names: 'DNS:hook.test' }, stranger, /does not lead to a trusted authority/, 1],
      ];
    for (const [make, from, why, days] of bad) {
      await using receiver = await openRawReceiver(ok, { tls: from.make(make) });
      const check = await client.check(`https://hook.test:${receiver.port}/`);
      assert.deepEqual(shape(check), ['url ok', 'dns ok', 'policy ok', 'connect ok', 'tls not ok']);
      assert.match(check.sentence, why);
      const shown = check.steps.at(-1)?.certificate;
      assert.ok(Math.abs((shown?.daysLeft ?? 99) - days) <= 1, `${why}: ${shown?.daysLeft}`);
      assert.equal(receiver.bytes(), 0);
    }
    await isEmpty(client);
  });

  test('takes a certificate without a subject, and one with a subject without end', async () => {
    const resolve = leadingTo('127.0.0.1');
    await using client = openTestClient({ resolve, certificateAuthorities: certificates.authority });
    const units = '/OU=u'.repeat(200);
    for (const [subject, shown] of [
      ['/', ''],
      [`/CN=two${units}`, /^.{299}…$/],
    ] as const) {
      const tls = certificates.make({ names: 'DNS:hook.test', subject });
      await using receiver = await openRawReceiver(ok, { tls });
      const check = await client.check(`https://hook.test:${receiver.port}/`);
      assert.equal(check.ok, true, check.sentence);
      const found = check.steps.at(-1)?.certificate?.subject ?? 'none';
      if (typeof shown === 'string') assert.equal(found, shown);
      else assert.match(found, shown);
    }
  });

  test('says of a name that leads inside that it does, and neither where nor why', async () => {
    await using client = openClient({
      networks: readNetworks('', '93.184.215.0/24'),
      resolve: (name) => Promise.resolve({ ok: true, addresses: INSIDE[name] ?? [] }),
    });
    const told = new Set<string>();
    for (const [name, addresses] of Object.entries(INSIDE)) {
      const check = await client.check(`https://${name}/hook`);
      assert.deepEqual(shape(check), ['url ok', 'dns ok', 'policy not ok']);
      const text = JSON.stringify(check);
      for (const address of addresses) assert.ok(!text.includes(address), `${address} in ${text}`);
      assert.doesNotMatch(text, /\d address|one address/, 'nor how many there are');
      told.add(check.sentence.replace(name, 'NAME'));
    }
    assert.equal(told.size, 1, 'one sentence for all of them');
  });

  test('shows no address of an allowed network unless the URL has it', async () => {
    await using client = openTestClient({ resolve: leadingTo('127.0.0.1') });
    await using receiver = await openRawReceiver(ok);
    const named = await client.check(`http://hook.test:${receiver.port}/`);
    assert.equal(named.ok, true);
    assert.doesNotMatch(JSON.stringify(named), /127\.0\.0\.1/);
    const literal = await client.check(`http://127.0.0.1:${receiver.port}/`);
    assert.deepEqual(shape(literal), ['url ok', 'policy ok', 'connect ok']);
    assert.deepEqual(literal.steps.at(-1)?.addresses, ['127.0.0.1']);
  });

  test('names the step that failed', async () => {
    const resolve: Resolve = (name) =>
      Promise.resolve(
        name === 'no.test'
          ? { ok: false, errorClass: 'dns_not_found', detail: '' }
          : { ok: true, addresses: ['127.0.0.1'] },
      );
    await using client = openTestClient({ resolve, timeoutMs: 1_000 });
    const closed = await openRawReceiver(ok);
    await closed[Symbol.asyncDispose]();
    await using silent = await openRawReceiver(() => undefined);
    const cases: [url: string, steps: string[], why: RegExp][] = [
      ['ftp://hook.test/', ['url not ok'], /http:\/\/ or https:\/\//],
      ['http://localhost/', ['policy not ok'], /reserved name/],
      ['http://hook.test:6379/', ['policy not ok'], /another kind of service/],
      ['http://no.test/', ['url ok', 'dns not ok'], /does not exist in DNS/],
      ['http://hook.test:9/', ['policy not ok'], /must not use port 9/],
      [`http://hook.test:${closed.port}/`, ['url ok', 'dns ok', 'policy ok', 'connect not ok'], /nothing listens/],
      [
        `https://hook.test:${silent.port}/`,
        ['url ok', 'dns ok', 'policy ok', 'connect ok', 'tls not ok'],
        /shaking hands/,
      ],
    ];
    for (const [url, steps, why] of cases) {
      const check = await client.check(url);
      assert.deepEqual(shape(check), steps, url);
      assert.match(check.sentence, why);
    }
    await isEmpty(client);
  });

  test('ends in time when DNS does not answer', async () => {
    await using client = openTestClient({ resolve: () => new Promise(() => undefined), timeoutMs: 300 });
    const check = await client.check('https://hook.test/');
    assert.deepEqual(shape(check), ['url ok', 'dns not ok']);
    assert.match(check.sentence, /still resolving its name, not done within 0\.3 s/);
  });
});

/** Private, metadata, link-local, denied by the operator, and private beside public. */
const INSIDE: Record<string, string[]> = {
  'one.example': ['10.1.2.3'],
  'two.example': ['169.254.169.254'],
  'three.example': ['fe80::1234'],
  'four.example': ['93.184.215.14'],
  'five.example': ['8.8.4.4', '192.168.77.1'],
};
