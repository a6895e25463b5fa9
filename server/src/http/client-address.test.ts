import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openAddressReader } from './client-address.ts';

suite("the client's address", () => {
  test('is the peer of the connection, whatever X-Forwarded-For says', () => {
    const read = openAddressReader([]);
    assert.equal(read('203.0.113.9', '1.2.3.4'), '203.0.113.9');
    assert.equal(read('::ffff:203.0.113.9', undefined), '203.0.113.9');
  });

  test('is what our own proxies wrote, read from the right', () => {
    const read = openAddressReader(['10.0.0.0/8', 'fd00::/8']);
    assert.equal(read('10.0.0.1', '203.0.113.9'), '203.0.113.9');
    assert.equal(read('::ffff:10.0.0.1', '6.6.6.6, 203.0.113.9, 10.1.1.1'), '203.0.113.9');
    assert.equal(read('fd00::1', '2001:db8::7'), '2001:db8::7');
  });

  test('stops at what is not an address', () => {
    const read = openAddressReader(['10.0.0.0/8']);
    assert.equal(read('10.0.0.1', '<script>, 10.2.2.2'), '10.2.2.2');
    assert.equal(read(undefined, '1.2.3.4'), '');
  });
});
