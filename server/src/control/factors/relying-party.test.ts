import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relyingPartyOf } from './relying-party.ts';

test('passkeys are bound to the name and the origin of the console', () => {
  assert.deepEqual(relyingPartyOf('https://millrace.example.com'), {
    id: 'millrace.example.com',
    origin: 'https://millrace.example.com',
  });
  assert.deepEqual(relyingPartyOf('http://localhost:8081'), { id: 'localhost', origin: 'http://localhost:8081' });
});

test('there are no passkeys without an address, over plain HTTP, or at an IP address', () => {
  const addresses = [undefined, '', 'http://millrace.example.com', 'https://192.0.2.1', 'https://[2001:db8::1]:8081'];
  for (const address of addresses) assert.equal(relyingPartyOf(address), undefined, address);
});
