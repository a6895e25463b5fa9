import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { networkOf } from '../http/network-of.ts';
import { mayHaveKey, openKeyless } from './keyless.ts';

const keys = {
  byKey: (key: string) => (key === 'good "key"' ? ({ writeKey: key, keyHash: '', source: {} } as never) : undefined),
};
const GOOD = '"writeKey" : "good \\"key\\""';
const PADDING = ' '.repeat(40_000);

suite('a large body', () => {
  const bodies: [what: string, text: string, isKept: boolean][] = [
    ['with a known key at its beginning', `{${GOOD},"batch":[${PADDING}]}`, true],
    ['with a known key at its end', `{"batch":[${PADDING}],${GOOD}}`, true],
    ['with a known key after a field of that name', `{"batch":[{"writeKey":1,${PADDING}}],${GOOD}}`, true],
    ['without a key', `{"batch":[${PADDING}]}`, false],
    ['with a key that nobody has', `{"writeKey":"bad","batch":[${PADDING}]}`, false],
    ['with a thousand keys that nobody has', `{"batch":[${'{"writeKey":"bad"},'.repeat(5_000)}],${GOOD}}`, false],
    ['that ends within a key', `${PADDING}"writeKey":"good`, false],
    ['with an escape that is none', `${PADDING}"writeKey":"\\x"`, false],
  ];
  for (const [what, text, isKept] of bodies) {
    test(`${what} is ${isKept ? 'parsed' : 'refused before it is parsed'}`, () => {
      assert.equal(mayHaveKey(Buffer.from(text), keys), isKept);
    });
  }

  test('is one of more than 32 KiB; a smaller one is always parsed, and told what is wrong with it', () => {
    assert.equal(mayHaveKey(Buffer.from('{}'.padEnd(32_768)), keys), true);
    assert.equal(mayHaveKey(Buffer.from('{}'.padEnd(32_769)), keys), false);
  });
});

suite('an address whose requests are refused', () => {
  test('has to stay away after ten seconds of them at once, and may come back by and by', () => {
    const clock = { now: 0 };
    const keyless = openKeyless({ perSecond: 10, nowMs: () => clock.now });
    for (let nth = 0; nth < 100; nth += 1) {
      assert.equal(keyless.waitSeconds('192.0.2.1'), 0);
      keyless.refused('192.0.2.1', 500);
    }
    assert.equal(keyless.waitSeconds('192.0.2.1'), 1);
    assert.equal(keyless.waitSeconds('192.0.2.2'), 0, 'others may');
    clock.now = 1_000;
    assert.equal(keyless.waitSeconds('192.0.2.1'), 0);
  });

  test('pays for large bodies as for many small ones', () => {
    const keyless = openKeyless({ perSecond: 10, nowMs: () => 0 });
    for (let nth = 0; nth < 4; nth += 1) keyless.refused('192.0.2.1', 512_000);
    assert.ok(keyless.waitSeconds('192.0.2.1') >= 3);
  });

  test('is a /64 when it is IPv6', () => {
    const keyless = openKeyless({ perSecond: 1, nowMs: () => 0 });
    for (let nth = 0; nth < 20; nth += 1) keyless.refused(`2001:db8:0:1::${nth.toString(16)}`, 0);
    assert.ok(keyless.waitSeconds('2001:DB8::1:ffff:0:0:1') > 0);
    assert.equal(keyless.waitSeconds('2001:db8:0:2::1'), 0);
    assert.deepEqual(['::1', 'a::b:c:d:e:f:0', '1:2:3:4:5:6:7:8', '2001:db8::', '192.0.2.1', ''].map(networkOf), [
      '0:0:0:0',
      'a:0:b:c',
      '1:2:3:4',
      '2001:db8:0:0',
      '192.0.2.1',
      '',
    ]);
  });

  test('is one of a bounded number: the oldest is forgotten', () => {
    const keyless = openKeyless({ perSecond: 1, nowMs: () => 0, maxAddresses: 3 });
    for (const address of ['a', 'b', 'c', 'd']) keyless.refused(address, 1_000_000);
    assert.deepEqual(
      ['a', 'b', 'd'].map((address) => keyless.waitSeconds(address) > 0),
      [false, true, true],
    );
  });

  test('may have any number of them with a limit of 0', () => {
    const keyless = openKeyless({ perSecond: 0, nowMs: () => 0 });
    for (let nth = 0; nth < 1_000; nth += 1) keyless.refused('a', 512_000);
    assert.equal(keyless.waitSeconds('a'), 0);
  });
});
