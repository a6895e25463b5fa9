import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readNetworks } from '../../http/address-policy.ts';
import { urlProblem } from './webhook-url.ts';

const NOBODY = readNetworks('');

suite("a webhook's URL", () => {
  test('may be any public http or https address', () => {
    for (const url of [
      'https://example.com/hook',
      'http://example.com:8080/a/b?c=d&e=%20',
      'HTTPS://EXAMPLE.COM',
      'https://example.com./hook',
      'https://xn--bcher-kva.example/',
      'https://bücher.example/😀',
      'https://8.8.8.8/hook',
      'https://[2606:4700:4700::1111]/hook',
      'https://1.1.1.1.nip.io/',
    ]) {
      assert.equal(urlProblem(url, NOBODY), undefined, url);
    }
  });

  test('must be absolute', () => {
    for (const url of ['', '/hook', 'hook', 'example.com/hook', '//example.com/hook', 'https://', 'http:///', '?a=b']) {
      assert.match(urlProblem(url, NOBODY) ?? '', /must/, url);
    }
  });

  test('must use http or https, written in full', () => {
    for (const url of [
      'unix:/var/run/docker.sock',
      'file:///etc/passwd',
      'ftp://example.com/',
      'gopher://example.com/_x',
      'data:text/plain,x',
      'javascript:alert(1)',
      'ws://example.com/',
      'http:example.com',
      'http:/example.com',
    ]) {
      assert.match(urlProblem(url, NOBODY) ?? '', /http:\/\/ or https:\/\//, url);
    }
  });

  test('must not hide a user, a fragment, a control character or a backslash', () => {
    const refused: [url: string, why: RegExp][] = [
      ['http://user:pass@example.com/', /user or password/],
      ['http://good@127.0.0.1/', /user or password/],
      ['http://@example.com/', /user or password/],
      ['http://127.0.0.1#@example.com/', /fragment/],
      ['https://example.com/#', /fragment/],
      ['http:\\\\127.0.0.1', /backslash/],
      ['http://example.com\\@127.0.0.1/', /backslash/],
      ['http://exam\nple.com/', /control/],
      ['http://exam\tple.com/', /control/],
      ['http://example.com/\u0000', /control/],
      [' http://example.com/', /spaces/],
      ['http://example.com:0/', /port 0/],
    ];
    for (const [url, why] of refused) assert.match(urlProblem(url, NOBODY) ?? '', why, url);
  });

  test('S21: may name port 80, 443 or one from 1024 up that no other kind of service owns, in every network', () => {
    for (const networks of [NOBODY, readNetworks('8.8.8.0/24')]) {
      for (const port of [80, 443, 1024, 3000, 8000, 8080, 8443, 9000, 65_535]) {
        assert.equal(urlProblem(`https://8.8.8.8:${port}/`, networks), undefined, String(port));
      }
      for (const port of [
        0, 1, 22, 25, 53, 81, 110, 1023, 2379, 3306, 4222, 5432, 6000, 6379, 6443, 9200, 11_211, 27_017,
      ]) {
        assert.match(
          urlProblem(`https://8.8.8.8:${port}/`, networks) ?? '',
          new RegExp(`port ${port}\\b`),
          String(port),
        );
      }
    }
  });
});

const SPECIAL_HOSTS = [
  ...'127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 0 0.0.0.0'.split(' '),
  ...'127.0.0.1. １２７.０.０.１ 127。0。0。1 127.0.0.1\u00ad %31%32%37.0.0.1 ①②⑦.0.0.1'.split(' '),
  ...'[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:127.0.0.1]'.split(' '),
  ...'[64:ff9b::7f00:1] [64:ff9b::8.8.8.8] [64:ff9b:1::a9fe:a9fe] [2002:7f00:1::] [2002:808:808::]'.split(' '),
  ...'[2001:0:7f00:1::] [2001:db8::1] [3fff::1] [2620:4f:8000::1] [4000::1] [fec0::1] [100::1]'.split(' '),
  ...'[fc00::1] [fd12:3456::1] [fe80::1] [ff02::1] [::ffff:10.0.0.1] [::ffff:0a00:1] [5f00::1]'.split(' '),
  ...'10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.1.1 100.64.0.1 192.0.0.8 192.0.2.1'.split(' '),
  ...'198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255'.split(' '),
  ...'192.88.99.1 3232235777 0xc0a80101 0300.0250.1.1 10.1'.split(' '),
];
const METADATA_HOSTS = [
  ...'169.254.169.254 0xA9FEA9FE 2852039166 0251.0376.0251.0376 169.254.43518 169.254.170.2'.split(' '),
  ...'100.100.100.200 168.63.129.16 [fd00:ec2::254] [fd20:ce::254] [::ffff:169.254.169.254]'.split(' '),
  ...'[::169.254.169.254] [64:ff9b::169.254.169.254] [64:ff9b:1::a9fe:a9fe] [2002:a9fe:a9fe::]'.split(' '),
  ...'[2001:0:0:0:0:0:5601:5601] [::ffff:a9fe:a9fe] [::ffff:0:169.254.169.254]'.split(' '),
  ...'metadata.google.internal metadata.google.internal. METADATA.google.INTERNAL x.metadata.google.internal'.split(
    ' ',
  ),
];
const NAMES = [
  'localhost',
  'LOCALHOST.',
  'x.localhost',
  'printer.local',
  'db.internal',
  'router.home.arpa',
  'intranet',
  'a.localdomain',
];

suite('a literal address or name that is not public', () => {
  test('is refused in every notation a URL knows', () => {
    for (const host of [...SPECIAL_HOSTS, ...METADATA_HOSTS, ...NAMES]) {
      assert.match(urlProblem(`http://${host}/hook`, NOBODY) ?? '', /must/, host);
      assert.match(urlProblem(`https://${host}:8443`, NOBODY) ?? '', /must/, host);
    }
  });

  test('is refused with words that say how to allow it', () => {
    assert.match(urlProblem('http://10.1/', NOBODY) ?? '', /10\.0\.0\.1, which is not public; MILLRACE_ALLOW_CIDRS/);
  });

  test('is open where the operator allows its network, and nowhere else', () => {
    const allowed = readNetworks('10.1.0.0/16, fd12::/16');
    for (const host of ['10.1.2.3', '0x0a010203', '[fd12::1]']) {
      assert.equal(urlProblem(`http://${host}/`, allowed), undefined, host);
    }
    for (const host of SPECIAL_HOSTS.filter((each) => each !== '[fd12:3456::1]')) {
      assert.match(urlProblem(`http://${host}/`, allowed) ?? '', /must/, host);
    }
    assert.equal(urlProblem('http://billing.svc.cluster.local/', allowed), undefined, 'checked when we connect');
    assert.match(urlProblem('http://localhost/', allowed) ?? '', /reserved/);
  });

  test('stays refused when it is a metadata address, whatever is allowed', () => {
    const everything = readNetworks('0.0.0.0/0,::/0');
    for (const host of METADATA_HOSTS) assert.match(urlProblem(`http://${host}/`, everything) ?? '', /metadata/i, host);
    assert.equal(urlProblem('http://127.0.0.1/', everything), undefined);
  });
});
